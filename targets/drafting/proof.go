package drafting

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// marks distinguish the texts of one create by one character after the marker.
const (
	marks     = "0123456789abcdefghij"
	markSpace = "x"
)

// markOf stands behind the marker in the text of this number.
func markOf(n int) string { return markSpace + marks[n:n+1] }

// Marked returns the draft with another text in each member that takes one: what stands for the marker, and
// behind it which member it is.
func (d Draft) Marked(marker string) Draft {
	d.Templates = cloneTexts(d.Templates)
	if d.Number != "" {
		d.Templates[d.Number] = d.marking(d.Number)
		return d
	}
	for i, pointer := range d.Texts[:min(len(d.Texts), len(marks))] {
		d.Templates[pointer] = strings.Replace(d.marking(pointer), markerTemplate, marker+markOf(i), 1)
	}
	return d
}

// Created is what a database held after one real create.
type Created struct {
	Marker   string
	Status   int // of the answer
	Header   map[string]string
	Location string // of these, where it has one
	Answer   any    // JSON; nil: none
	Text     string // of an answer that is no JSON
	Written  string // the answer as it was
	Dialect  databases.Dialect
	Landings []databases.Landing // rows with the marker
	Later    []string            // tables that had it only some time after the answer
}

// Accepted reports that the answer says that it will be done.
func (c Created) Accepted() bool { return c.Status == http.StatusAccepted }

// Proof is where a create has left its marker.
type Proof struct {
	Table databases.Table
	Where
	Text     string            // JSON pointer to the member of the body that landed there
	Named    contract.Identity // where the answer names the created thing; nowhere: not found
	Redirect int               // status of an answer that leads to the created thing; 0: it does not redirect
	Identity string            // column with that id; empty: not found
	Part     string            // column of the primary key that is the id among rows which share the others, and so not among all; empty: none
	Shown    databases.Shown   // how the answer writes what that column has
	Told     any               // the answer, JSON
	Row      map[string]string
	Several  Several
	Late     bool     // what was accepted came there when it was done
	Unfit    []string // members of the body that are not altered: they say how many rows a create makes, or another value is refused for itself
	Unkept   []string // members of which a row was seen not to keep what an altered body says
	Others   []Beside
	Books    []Book
	Numbers  [][]string // a column with the number of each thing, which no two are to share, and those within which it counts

	Adds        bool     // each request adds to the row what it says
	AddsAgain   bool     // the same request under the same key did
	Varies      bool     // what the row holds in the altered member's column is not what a request says
	Removal     *Removal // what has been seen of how what is created is removed; nil: nothing that can be relied on
	ByReference bool     // the text is what makes two creates one, so that all bodies of one carry the reference in place of a marker
}

// plainNumber matches what tables count their rows by.
var plainNumber = regexp.MustCompile(`^\d+$`)

// place is a column in which a marker was found.
type place struct {
	Proof
	rank int // of the text; less is better
}

// Prove finds out of all places that hold a marker the one that is the created thing; nil: there
// is none. The others are kept, as another table with the marker may be an effect to count.
func (d Draft) Prove(c Created) *Proof {
	var places []place
	for _, l := range c.Landings {
		for _, column := range l.Columns {
			if p, ok := d.place(c, l, column); ok {
				places = append(places, p)
			}
		}
	}
	if len(places) == 0 {
		return nil
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(-cmp.Compare(a.worth(d), b.worth(d)), cmp.Compare(a.rank, b.rank))
	})
	asGiven(places)
	entity(d, places)
	best := places[0].Proof
	if best.Several = several(places[0], places); len(best.Several.Rows) > 0 && !best.Several.Together {
		best.Several.identity, best.Several.shown = best.Identity, best.Shown
		best.apart()
	}
	for _, p := range places[1:] {
		if p.Table.FullName() != best.Table.FullName() && (p.Exact || HoldsMessages(p.Table) && hasMark(d, p.Row[p.Column], best.Text, c.Marker)) {
			best.alsoIn(p.Proof)
		}
	}
	return &best
}

// asGiven puts the column to the front that the row keeps the text in as it was given, of several that have it: what was made out of it, such
// as a slug, is another one for a second row with the same text (NAME-2), which nobody would find by the marker then.
func asGiven(places []place) {
	first := places[0]
	_, member := jsonpointer.Cut(first.Text)
	derived := func(p place) int {
		switch {
		case squeezed(p.Column) == squeezed(member):
			return 0
		case slices.ContainsFunc(p.Table.Unique, func(unique []string) bool { return len(unique) == 1 && unique[0] == p.Column }):
			return 2 // the only one of its table
		default:
			return 1
		}
	}
	best := 0
	for n, p := range places {
		sameRow := p.Table.FullName() == first.Table.FullName() && maps.Equal(p.Row, first.Row)
		if sameRow && p.Text == first.Text && p.Exact == first.Exact && derived(p) < derived(places[best]) {
			best = n
		}
	}
	places[0], places[best] = places[best], places[0]
}

// OnlyOnce is another column in which the created row has the text by which rows are found, and which the database takes once, alone or with
// others; empty: there is none, or rows are found by such a one.
func OnlyOnce(f *File) string {
	p := f.Proof
	if p.ByKey || !p.Exact || p.Through != nil || len(p.Several.Rows) > 0 || Single(*f) {
		return ""
	}
	keys := append(slices.Clone(p.Table.Unique), p.Table.Primary)
	slices.SortStableFunc(keys, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	for _, column := range slices.Concat(keys...) {
		if p.Row[p.Column] != "" && p.Row[column] == p.Row[p.Column] {
			return column
		}
	}
	return ""
}

// hasMark reports that a text holds the marker of a member among others.
func hasMark(d Draft, text, pointer, marker string) bool {
	which := slices.Index(d.Texts, pointer)
	return which >= 0 && which < len(marks) && strings.Contains(text, marker+markOf(which))
}

// Beside is a column of another table that holds the marker.
type Beside struct {
	Table  databases.Table
	Column string
	Inside bool   // it holds more than the marker
	Rows   int    // that one create has made
	Again  int    // that it had when the create had been repeated; 0: not counted
	Uneven bool   // equal creates have made different numbers, of which Rows is the least
	Found  string // column by which a row is found, and made where there is none yet, so that no two have the same in it
	Pool   *Pool  // a number of the whole table, by which Rows says how much each create changes it; nil: its rows

	texts []string // JSON pointers to the members that landed in these rows, one for each row
}

// Name is table.column.
func (b Beside) Name() string { return b.Table.FullName() + "." + b.Column }

// CountIn counts the rows of a marker in its table, of all that hold the marker.
func (b Beside) CountIn(landings []databases.Landing) (rows int) {
	for _, l := range landings {
		if l.Table.FullName() == b.Table.FullName() && slices.Contains(l.Columns, b.Column) {
			rows++
		}
	}
	return rows
}

// alsoIn notes a row of another table.
func (p *Proof) alsoIn(other Proof) {
	b := Beside{Table: other.Table, Column: other.Column, Inside: !other.Exact}
	i := slices.IndexFunc(p.Others, func(o Beside) bool { return o.Name() == b.Name() })
	if i < 0 {
		i, p.Others = len(p.Others), append(p.Others, b)
	}
	text := other.Text
	if b.Inside {
		text = p.Text // which is in it, whatever stands before it
	}
	p.Others[i].Rows, p.Others[i].texts = p.Others[i].Rows+1, append(p.Others[i].texts, text)
}

// place reads which text has come to a column.
func (d Draft) place(c Created, l databases.Landing, column string) (place, bool) {
	value := l.Row[column]
	if d.Number != "" {
		if whole, _, _ := strings.Cut(value, "."); whole != c.Marker {
			return place{}, false
		}
		return d.landed(c, l, place{Proof: Proof{Table: l.Table, Where: Where{Column: column, Exact: true}, Text: d.Number, Row: l.Row}}), true
	}
	found := regexp.MustCompile(regexp.QuoteMeta(c.Marker) + markSpace + "([" + marks + "])").FindStringSubmatch(value)
	if found == nil {
		return place{}, false
	}
	which := strings.Index(marks, found[1])
	if which >= len(d.Texts) {
		return place{}, false
	}
	return d.landed(c, l, place{rank: which, Proof: Proof{Table: l.Table, Where: Where{Column: column, Exact: value == found[0]}, Text: d.Texts[which], Row: l.Row}}), true
}

// landed is a place with what else its row says.
func (d Draft) landed(c Created, l databases.Landing, p place) place {
	p.Late = slices.Contains(c.Later, l.Table.FullName())
	p.Told = c.Answer
	if p.Named, p.Identity, p.Shown = c.identity(l, d); p.Late && plainNumber.MatchString(l.Row[p.Identity]) {
		p.Named, p.Identity, p.Shown = contract.Identity{}, "", databases.Shown{} // the answer names what was queued, and that is numbered as well
	}
	if c.Redirects() {
		p.Redirect = c.Status
	}
	return p
}

// worth is how much speaks for a place: it is no queue, the marker stands there alone, the answer names the row by what the request has not
// said, the table is called as the path is, and not as a log or a record of keys may be.
func (p place) worth(d Draft) int {
	worth := 0
	if p.Late {
		worth += 16
	}
	if p.Exact {
		worth += 8
	}
	if p.Identity != "" && !d.echoed(p.Named) {
		worth += 4
	}
	if calledAs(p.Table.Name, d.Path) {
		worth += 2
	}
	if !bookkeeping.MatchString(p.Table.Name) && !lookedUp.MatchString(p.Table.Name) {
		worth++
	}
	return worth
}

// lookedUp matches names of tables by whose rows others are looked up.
var lookedUp = regexp.MustCompile(`(?i)search|index|fts|lookup|suggest`)

// entity puts the place to the front to whose table the first one refers by the very column that the answer names: what is called so is
// the row there, unless the path is called as the first one's table is.
func entity(d Draft, places []place) {
	first := places[0]
	for n, p := range places[1:] {
		called := calledAs(first.Table.Name, d.Path) && (!endsAs(p.Table.Name, d.Path) || endsAs(first.Table.Name, d.Path))
		if first.refersTo(p) && p.Exact && p.Late == first.Late && !called {
			copy(places[1:n+2], places[:n+1])
			places[0] = p
			return
		}
	}
}

// refersTo reports that the answer names a row by what refers to the other place's row: by a foreign key, or without one by a column that has
// its name, does not tell rows apart by itself, and has the value by which the same member of the answer names the other: user_id of the
// properties of a user.
func (p place) refersTo(other place) bool {
	if slices.ContainsFunc(p.Table.Refers, func(r databases.Reference) bool {
		return r.Column == p.Identity && r.Table == other.Table.FullName() && p.Row[r.Column] == other.Row[r.Theirs]
	}) {
		return true
	}
	return p.Identity != "" && !p.Table.IsKey(p.Identity) && p.Named == other.Named && slices.Equal(other.Table.Primary, []string{other.Identity}) &&
		endingNamed(p.Identity, other.Table.Name, other.Identity)
}

// endingNamed reports that a column is called as the end of a table's name and its key are, as the tables of one program may share a
// prefix: user_id for ID of wp_users.
func endingNamed(column, table, key string) bool {
	for {
		if namesKey(column, table, key) {
			return true
		}
		_, rest, more := strings.Cut(table, "_")
		if !more || rest == "" {
			return false
		}
		table = rest
	}
}

// endsAs reports that a table's name ends as the path does, singular or plural.
func endsAs(table, path string) bool {
	segments := pathSegments(path)
	last := singular(squeezed(segments[len(segments)-1]))
	return last != "" && strings.HasSuffix(singular(squeezed(table)), last)
}

// calledAs reports that a table is called as the end of the path is, singular or plural.
func calledAs(table, path string) bool {
	segments := pathSegments(path)
	last := strings.TrimRight(strings.ToLower(segments[len(segments)-1]), "s")
	return last != "" && strings.Contains(squeezed(table), squeezed(last))
}

// namedAs reports that a table has the name of the end of the path, singular or plural, and nothing else.
func namedAs(table, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	_, last := jsonpointer.Cut(strings.TrimRight(path, "/"))
	return singular(squeezed(last)) == singular(squeezed(table[strings.LastIndex(table, ".")+1:]))
}

// squeezed is a name in lower case and without separators: orderId, order_id and Order-ID are one.
func squeezed(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// idLike matches names of members and columns that identify a thing.
var idLike = regexp.MustCompile(`(?i)(^|[_-])(id|uuid|guid|number|no|code|key|ref|reference|slug|token)$|[a-z](Id|ID|Uuid|Number)$`)

// Named reports that a member is called as what identifies a thing.
func Named(pointer string) bool {
	return idLike.MatchString(pointer[strings.LastIndex(pointer, "/")+1:])
}

// Redirects reports that the answer sends a browser on, as after a form.
func (c Created) Redirects() bool { return redirects(c.Status) }

// redirects reports a status that sends a browser to another page with GET (RFC 9110, sections
// 15.4.3 and 15.4.4).
func redirects(status int) bool { return status == http.StatusFound || status == http.StatusSeeOther }

// identity finds where an answer names a row, and the column that it names it by: the primary key or another that
// looks like one. One that is written as the database has it comes before one that is not, and what the request itself has said
// comes last.
func (c Created) identity(l databases.Landing, d Draft) (named contract.Identity, column string, shown databases.Shown) {
	var keys, others []string
	for _, unique := range l.Table.Keys() {
		if len(unique) == 1 {
			keys = append(keys, unique[0])
		}
	}
	for _, c := range l.Table.Columns {
		if idLike.MatchString(c.Name) {
			others = append(others, c.Name)
		}
	}
	noName := func(column string) bool { return slices.Contains(l.Columns, column) || l.Row[column] == "" }
	keys = slices.DeleteFunc(keys, noName)
	if column := c.within(l, d); column != "" && !noName(column) {
		if named := c.naming(l.Row[column], column); !d.echoed(named) {
			return named, column, databases.Shown{}
		}
	}
	ofThePath := func(column string) bool { return noName(column) || given(l, d, column) }
	var said contract.Identity
	saidIn := ""
	for _, column := range append(slices.Clone(keys), slices.DeleteFunc(others, ofThePath)...) {
		named := c.naming(l.Row[column], column)
		switch {
		case named.Declared() && !d.echoed(named):
			return named, ofParent(l, d, named, column), databases.Shown{}
		case saidIn == "" && named.Declared():
			said, saidIn = named, column
		}
	}
	for _, column := range keys {
		if named, shown := c.showing(l.Row[column], column); named.Declared() {
			return named, column, shown
		}
	}
	if column := l.Table.Primary; len(column) == 1 && slices.Contains(keys, column[0]) {
		if named := calledAsTable(c.Answer, l.Table.Name, l.Row[column[0]]); named.Declared() && !d.echoed(named) {
			return named, column[0], databases.Shown{}
		}
	}
	for _, column := range keys {
		if named := inLinks(c.Answer, c.Written, l.Row[column]); named.Declared() && (!c.Accepted() || len(l.Row[column]) >= telling) {
			return named, column, databases.Shown{}
		}
	}
	for _, column := range keys {
		if named := c.inHeaders(l, d, l.Row[column]); named.Declared() && (!c.Accepted() || len(l.Row[column]) >= telling) {
			return named, column, databases.Shown{}
		}
	}
	return said, saidIn, databases.Shown{}
}

// ofParent is the column that refers to another table, where the answer may name its row as well as the created one, as both are numbered
// alike by chance: order_id, where the member is called orderId, or where the path is called as that table and not as this one.
func ofParent(l databases.Landing, d Draft, named contract.Identity, column string) string {
	_, member := jsonpointer.Cut(named.JSON)
	for _, r := range l.Table.Refers {
		alike := r.Column != column && l.Row[r.Column] == l.Row[column]
		if alike && (squeezed(member) == squeezed(r.Column) || namedAs(r.Table, d.Path) && !namedAs(l.Table.Name, d.Path)) {
			return r.Column
		}
	}
	return column
}

// naming finds where the answer has the value of a row's column as it is.
func (c Created) naming(value, column string) contract.Identity {
	if pointer := naming(c.Answer, column, value, len(value) >= telling); pointer != "" {
		return contract.Identity{JSON: pointer}
	}
	if named := inText(c.Text, column, value, len(value) >= telling); named.Declared() {
		return named
	}
	if c.Accepted() && len(value) < telling {
		return contract.Identity{} // its Location may be that of a job, whose number is the row's by chance
	}
	if pattern := leading(c.Location, value); pattern != "" {
		return contract.Identity{Header: "Location", Pattern: pattern}
	}
	return inWords(c.Text, value)
}

// showing finds where the answer has the value of a row's key in another spelling. An address with its host is none if its end names the row as it
// is: at another base_url it has another host.
func (c Created) showing(value, column string) (contract.Identity, databases.Shown) {
	var texts []string
	Scalars("", c.Answer, func(_ string, member any) {
		if text, isText := member.(string); isText {
			texts = append(texts, text)
		}
	})
	texts = append(texts, segmentsOf(c.Location)...)
	for _, found := range leaf.FindAllStringSubmatch(c.Text, -1) {
		texts = append(texts, unescaped(strings.TrimSpace(found[2])))
	}
	texts = append(texts, wordOf.FindAllString(c.Text, mostWords)...)
	for _, text := range texts {
		s, shown := databases.Showing(value, text)
		if absolute(text) && inLinks(c.Answer, c.Written, value).Declared() {
			continue
		}
		if !shown || !s.Possible(c.Dialect) || c.Accepted() && len(value) < telling {
			continue
		}
		if pointer := naming(c.Answer, column, text, len(value) >= telling); pointer != "" {
			return contract.Identity{JSON: pointer}, s
		}
		if named := inText(c.Text, column, text, len(value) >= telling); named.Declared() {
			return named, s
		}
		if pattern := leading(c.Location, text); pattern != "" {
			return contract.Identity{Header: "Location", Pattern: pattern}, s
		}
		if named := inWords(c.Text, text); named.Declared() {
			return named, s
		}
	}
	return contract.Identity{}, databases.Shown{}
}

// mostWords is how many words of an answer are looked at, at most.
const mostWords = 100

// telling is how long a key is that nothing else in an answer equals by chance.
const telling = 12

// naming is the JSON pointer, as short as can be, to a member that has this value and is called like an id, or has it whatever it is
// called where the value tells enough. Of several, the one that is called most like the column counts.
func naming(answer any, column, value string, tells bool) string {
	best := ""
	Scalars("", answer, func(pointer string, member any) {
		name := calledThere(pointer)
		if value == "" || fmt.Sprint(member) != value || !tells && !idLike.MatchString(name) && squeezed(name) != squeezed(column) && !resultOf(answer, pointer) {
			return
		}
		if best == "" || cmp.Or(cmp.Compare(strings.Count(pointer, "/"), strings.Count(best, "/")), cmp.Compare(alike(calledThere(best), column), alike(name, column))) < 0 {
			best = pointer
		}
	})
	return best
}

// resultOf reports that a member is all that a call of JSON-RPC returned, or the first of it.
func resultOf(answer any, pointer string) bool {
	object, _ := answer.(map[string]any)
	_, call := object["jsonrpc"]
	_, numbered := object["id"]
	return (call || numbered) && (pointer == "/result" || pointer == "/result/0")
}

// alike is how much a member is called as a column is: 2 for the same name, 1 for a word that both have, such as pageid and si_page.
func alike(name, column string) int {
	if squeezed(name) == squeezed(column) {
		return 2
	}
	if slices.ContainsFunc(namedWords(column), func(word string) bool { return len(word) > 2 && strings.Contains(squeezed(name), word) }) {
		return 1
	}
	return 0
}

// calledThere is the name of a member, and of an element of a list that of one in the list: groupid for /groupids/0.
func calledThere(pointer string) string {
	list, name := jsonpointer.Cut(pointer)
	if _, of := jsonpointer.Cut(list); plainNumber.MatchString(name) && of != "" {
		return singular(of)
	}
	return name
}

// stored is the column of the row that holds the body's member, going by its name and value.
func (p *Proof) stored(pointer string, value any) string {
	if p == nil {
		return ""
	}
	name := squeezed(pointer[strings.LastIndex(pointer, "/")+1:])
	for _, c := range p.Table.Columns {
		text, there := p.Row[c.Name]
		own := c.Name[strings.LastIndex(c.Name, ".")+1:] // what a target lists has dotted names
		if there && Same(text, fmt.Sprint(value)) && (squeezed(own) == name || len(text) >= telling) {
			return c.Name
		}
	}
	return ""
}
