package drafting

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// doubtProof says what of the mapping is not proven.
func (f *File) doubtProof() {
	p := f.Proof
	switch {
	case !f.Database && (f.Listing == nil || p == nil):
		f.Doubt("Where the rows are: no database was given (--db), so there is no row query. If the API lists what it holds, rows.http can ask it, and init --listing PATH learns how: see Without a database in docs/targets.md.")
	case !f.Database:
		doubtListing(f)
	case p == nil:
		f.Doubt("Where the rows are: no create has proven it. Fill in the rows of the operation; without them the file does not validate.")
	default:
		if !p.Exact {
			f.Doubt("Whether the row query is right: %s.%s holds more than the marker, which is looked for inside it.", p.Table.FullName(), p.Column)
		}
		doubtSeveral(f)
		switch {
		case p.Part != "":
			doubtPart(f)
		case p.Identity == "" && p.Named.Declared():
			f.Doubt("Which row %s names: it is another one for each create, and a repetition has it again, but no key of the row in %s reads so. Answers are compared with each other by it, and not with the row.", p.Named.Where(), p.Table.FullName())
		case p.Identity == "" && !p.ByKey:
			f.Doubt("How the answer names the row: nothing in it equals a key of the row in %s.", p.Table.FullName())
		}
		if p.AddsAgain {
			f.Doubt("Whether a repetition may add: the same request again changed the row of %s, by what the body says.", p.Table.FullName())
		}
		more := func(t databases.Table, rows, again int, uneven bool) {
			if again > rows && !uneven {
				f.Doubt("Whether %s may have more rows: one create made %d there, and there were %d when it was repeated.", t.FullName(), rows, again)
			}
		}
		for _, c := range f.Children {
			more(c.Table, c.Rows, c.Again, c.Uneven)
		}
		var names []string
		below := ""
		for _, o := range p.Others {
			more(o.Table, o.Rows, o.Again, o.Uneven)
			if !o.Inside && !o.unlinked() {
				names = append(names, o.Name())
				if _, rows := holds(f, o); rows > 0 {
					below = "; effects, below, can count the rows there"
				}
			}
		}
		if len(names) > 0 {
			f.Doubt("Which table is the effect: the marker is in %s as well%s.", strings.Join(names, ", "), below)
		}
	}
}

// rows writes how the rows are found. Without a proof it is a comment for the reader to fill in: a
// query that was guessed could find the rows of others.
func (f *File) rows() {
	if f.Proof == nil {
		f.line("    # rows: # fill in TABLE and COLUMN, in which the marker is stored")
		f.line("    #   query: select id from TABLE where COLUMN = :marker")
		f.line("    #   identity: id")
		return
	}
	f.remark("    ", "%s.", f.prevented())
	f.line("    rows: # one real create has proven it")
	f.line("      query: %s", literal(f.query()))
	if f.Proof.Identity != "" {
		f.line("      identity: %s", literal(f.Proof.Identity))
	}
	writeContent(f)
	f.effects()
}

// writeContent writes which column holds what an altered body changes, and which an id that has to be there to its last digit.
func writeContent(f *File) {
	columns, altered := exact(f), f.alter != nil && f.alter.column != "" && !f.Proof.Varies
	if altered {
		columns[f.alter.column] = f.alter.Pointer
	}
	if len(columns) > 0 {
		f.line("      content: %s # column: where the request has it", literal(columns))
	}
	switch {
	case !altered:
	case f.Proof.AddsAgain:
		f.line("      adds: %s # the same request again added to the row", literal(f.alter.column))
	case f.Proof.Adds:
		f.line("      adds: %s # the same body under another key made no second row, and added to this one", literal(f.alter.column))
	}
}

// exact are the columns that have to hold all of a member: an id that the client gives, and a natural key that was cut.
func exact(f *File) map[string]string {
	columns := exactNumbers(f)
	maps.Copy(columns, f.learnt.cut)
	return columns
}

// query selects the row by its marker.
func (f *File) query() string {
	if f.Proof.Within != "" {
		return elementQuery(f)
	}
	var columns []string
	add := func(column string) {
		if column != "" && !slices.Contains(columns, f.Dialect.Name(column)) {
			columns = append(columns, f.Dialect.Name(column))
		}
	}
	if f.Proof.Shown != (databases.Shown{}) {
		name := f.Dialect.Name(f.Proof.Identity)
		columns = append(columns, f.Proof.Shown.In(f.Dialect, f.Dialect.TableName(f.Proof.Table)+"."+name)+" as "+name)
	} else {
		add(f.Proof.Identity)
	}
	if f.alter != nil {
		add(f.alter.column)
	}
	for _, column := range slices.Sorted(maps.Keys(exact(f))) {
		add(column)
	}
	if (f.Proof.Archive != nil || f.Proof.moved) && !f.Proof.Rekeyed && len(f.Proof.Several.Rows) == 0 {
		for _, column := range f.Proof.Table.Primary { // two rows that are alike but for it stay two
			add(column)
		}
	}
	add(f.Proof.Column)
	query := asOne(f, columns, fmt.Sprintf("from %s where %s", f.Dialect.TableName(f.Proof.Table), f.condition()))
	in := func(t databases.Table) string {
		there, proof := *f, *f.Proof
		proof.Table, proof.Archive, proof.Shards, proof.moved = t, nil, nil, f.Proof.Archive != nil
		proof.Table.Primary = f.Proof.Table.Primary
		there.Proof = &proof
		return there.query()
	}
	for _, t := range f.Proof.Shards { // which may have numbered their rows alike
		query += " union all " + in(t)
	}
	if f.Proof.Archive != nil {
		both := " union " // a row that is in both for a moment is one
		if len(f.Proof.Table.Primary) == 0 || f.Proof.Rekeyed || len(f.Proof.Shards) > 0 {
			both = " union all "
		}
		query += both + in(*f.Proof.Archive)
	}
	return query
}

// SameColumns reports that a table has all columns of another one.
func SameColumns(t, of databases.Table) bool {
	return !slices.ContainsFunc(of.Columns, func(c databases.Column) bool {
		return !slices.ContainsFunc(t.Columns, func(o databases.Column) bool { return o.Name == c.Name })
	})
}

// condition is true for the rows of a marker.
func (f *File) condition() string {
	condition := f.Proof.asks(markerCondition(f))
	if removal := f.Proof.Removal; removal != nil && removal.Column != "" {
		condition += " and " + removal.condition(f)
	}
	if done := f.Proof.done(f.Dialect); done != "" {
		condition += " and " + done
	}
	if v := f.Proof.Version; v != "" {
		condition += " and " + f.Dialect.TableName(f.Proof.Table) + "." + f.Dialect.Name(v) + " = " + f.Proof.Row[v]
	}
	return condition
}

// markerCondition compares a column with the marker. A column that holds more than the marker is
// searched, in the words of the dialect.
func markerCondition(f *File) string {
	if through := f.Proof.Through; through != nil {
		return through.condition(f)
	}
	column := f.Dialect.TableName(f.Proof.Table) + "." + f.Dialect.Name(f.Proof.Column)
	if spelling := spellingIn(f); len(spelling) > 0 {
		return equalIn(spelling, column, ":marker")
	}
	return contains(f.Dialect, column, f.Proof.Exact)
}

// contains is true where a column is the marker, or has it somewhere in it.
func contains(d databases.Dialect, column string, exact bool) string {
	switch {
	case exact:
		return column + " = :marker"
	case d == databases.MariaDB:
		return column + " like concat('%', :marker, '%')"
	case d == databases.PostgreSQL:
		return "cast(" + column + " as text) like '%' || cast(:marker as text) || '%'"
	default:
		return column + " like '%' || :marker || '%'"
	}
}

// prevented says what the database itself would refuse.
func (f *File) prevented() string {
	var constraints []string
	p := f.Proof
	said := len(exactNumbers(f)) > 0 // the primary key, by requests: it is no number of the database's own
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		said = said || slices.Contains(p.Table.Primary, cameTo(f, pointer, value)) || soleKey(p, value)
	})
	if said {
		constraints = append(constraints, "("+strings.Join(p.Table.Primary, ", ")+")")
	}
	for _, unique := range p.Table.Unique {
		if holdsFor(p, unique) && !ofTheDrawn(f, unique) {
			constraints = append(constraints, "("+strings.Join(unique, ", ")+")")
		}
	}
	constraints = append(constraints, p.Table.Partly...)
	if len(constraints) == 0 {
		return fmt.Sprintf("The database prevents no second row: %s has no unique constraint that holds for every row, but its primary key", p.Table.FullName())
	}
	return fmt.Sprintf("The database itself refuses a second row in %s with the same %s", p.Table.FullName(), strings.Join(constraints, " or "))
}

// ofTheDrawn reports that a constraint has the column that the answer names a row by, and that no request has said what came there: it is another one
// for each row, and the constraint refuses none. A key may be it, in whatever place.
func ofTheDrawn(f *File, unique []string) bool {
	p := f.Proof
	if !slices.Contains(unique, p.Identity) || p.Identity == p.Column || f.Draft.Keyed() || f.Draft.Changes() || f.Draft.echoed(p.Named) {
		return false
	}
	said := false
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		said = said || cameTo(f, pointer, value) == p.Identity
	})
	return !said
}

// holdsFor reports that a constraint refuses a second row like the created one: NULL in one of its columns is not what NULL in another row is.
func holdsFor(p *Proof, unique []string) bool {
	null := func(column string) bool {
		_, has := p.Row[column]
		return !has && len(p.Row) > 0
	}
	return !slices.ContainsFunc(unique, null) || slices.ContainsFunc(p.Table.Nulls, func(other []string) bool { return slices.Equal(other, unique) })
}

// reference matches the reference of an intent.
const reference = "ref[0-9a-z]{8,}"

// soleKey reports that a text of the request has become the primary key, whatever that is called.
func soleKey(p *Proof, value any) bool {
	text, isText := value.(string)
	return isText && len(p.Table.Primary) == 1 && !plainNumber.MatchString(text) && p.Row[p.Table.Primary[0]] == text
}

// cameTo is the column to which a member of the one create has come; empty: none.
func cameTo(f *File, pointer string, value any) string {
	return cmp.Or(marked(f, pointer), f.Proof.stored(pointer, value), referred(f, pointer))
}

// referred is the column to which the one create has brought a text with its reference; empty: none.
func referred(f *File, pointer string) string {
	before, behind, refers := strings.Cut(f.Draft.Templates[pointer], referenceTemplate)
	if !refers {
		return ""
	}
	came := regexp.MustCompile("^" + regexp.QuoteMeta(before) + reference + regexp.QuoteMeta(behind) + "$")
	for _, c := range f.Proof.Table.Columns {
		if came.MatchString(f.Proof.Row[c.Name]) {
			return c.Name
		}
	}
	return ""
}

// touched are the tables in which a create leaves rows beside its own.
type touched struct {
	counted, others        []Child  // tables that refer to the row: those whose rows are an effect, and those of which nobody knows
	sent, beside, unlinked []Beside // other tables: what is to be sent, those that hold the marker, and those that nothing links to the row
}

// touches sorts the tables in which a create leaves rows.
func touches(f *File) (t touched) {
	for _, c := range f.Children {
		if c.Rows > 0 && !c.Varies && (!bookkeeping.MatchString(c.Table.Name) || c.atMost()) {
			t.counted = append(t.counted, c)
		} else {
			t.others = append(t.others, c)
		}
	}
	for _, o := range f.Proof.Others {
		switch {
		case slices.ContainsFunc(f.Children, func(c Child) bool { return c.Table.FullName() == o.Table.FullName() }):
		case o.unlinked():
			t.unlinked = append(t.unlinked, o)
		case slices.ContainsFunc(f.Proof.Others, func(all Beside) bool {
			return all.unlinked() && all.Pool == nil && all.Table.FullName() == o.Table.FullName()
		}):
		case o.Again > 0 && o.atMost():
			t.sent = append(t.sent, o)
		default:
			if _, rows := holds(f, o); rows > 0 {
				t.beside = append(t.beside, o)
			}
		}
	}
	return t
}

// effects writes what else a create changes. What was counted and is no log stands in the file. The rest are comments: whether they are effects,
// only their reader knows.
func (f *File) effects() {
	if column, before := versionOf(f); column != "" {
		f.line("    effects: # each change that is applied raises it by one")
		f.line("      - name: %s", literal(Slug(column)))
		f.line("        query: %s", literal(fmt.Sprintf("select coalesce(sum(%s - %d), 0) from %s where %s", f.Dialect.Name(column), before, f.Dialect.TableName(f.Proof.Table), f.condition())))
		f.line("        value: 1")
		return
	}
	t, p := touches(f), f.Proof
	all := len(p.Several.Rows)
	above, named := parent(f)
	indent, stands := "    # ", all > 0 || len(t.counted) > 0 || len(t.sent) > 0 || len(t.unlinked) > 0 || len(p.Books) > 0 || len(p.Numbers) > 0 || named || p.Through != nil && len(p.Through.Counts) > 0
	switch {
	case all == 0 && len(t.counted) > 0:
		f.line("    effects: # tables that refer to %s, and how many rows one create has made there; leave out logs", inert.Comment(p.Table.FullName()))
	case stands:
		f.line("    effects:")
	case len(t.others) > 0:
		f.line("    # effects: # tables that refer to %s, and how many rows one create has made there", inert.Comment(p.Table.FullName()))
	case len(t.beside) > 0:
		f.line("    # effects: # other tables with the marker, and how many rows one create has made there; leave out logs and records of keys")
	}
	if stands {
		if all > 0 {
			effect(f, "    ", allRows(f), fmt.Sprintf("select 1 from %s where %s", f.Dialect.TableName(p.Table), f.condition()), all, false)
		}
		if named {
			childless(f, above)
		}
		childEffects(f, "    ", t.counted)
		parentless(f, t.counted)
		besideEffects(f, "    ", t.sent)
		totalled(f, t.unlinked)
		books(f)
		numbersOnce(f)
		if p.Through != nil {
			p.Through.sharedCounts(f)
		}
		indent = "    #"
	}
	childEffects(f, indent, t.others)
	besideEffects(f, indent, t.beside)
}

// effect writes one that counts the rows of a query.
func effect(f *File, indent, name, query string, rows int, most bool) {
	f.line("%s  - name: %s", indent, name)
	f.line("%s    query: %s", indent, literal(query))
	f.line("%s    rows: %d", indent, rows)
	if most {
		f.line("%s    delivery: at-most-once # what is sent may be taken away", indent)
	}
}

// childEffects count the rows of tables that refer to the created one.
func childEffects(f *File, indent string, some []Child) {
	for _, c := range some {
		child, parent := f.Dialect.TableName(c.Table), f.Dialect.TableName(f.Proof.Table)
		effect(f, indent, c.name(f.Children), fmt.Sprintf("select 1 from %s join %s on %s where %s", child, parent, joined(f, c), f.condition()), c.Rows, c.atMost())
	}
}

// besideEffects count the rows of other tables that hold what the create sent.
func besideEffects(f *File, indent string, some []Beside) {
	for _, o := range some {
		condition, rows := holds(f, o)
		effect(f, indent, Slug(o.Name()), fmt.Sprintf("select 1 from %s where %s", f.Dialect.TableName(o.Table), condition), rows, o.atMost())
	}
}

// joined is true for the rows of a child table that refer to the created row. Where no foreign key says so, their types may differ.
func joined(f *File, c Child) string {
	child, parent := f.Dialect.TableName(c.Table)+"."+f.Dialect.Name(c.By.Column), f.Dialect.TableName(f.Proof.Table)+"."+f.Dialect.Name(c.By.Theirs)
	if f.Dialect == databases.PostgreSQL && c.Table.TypeOf(c.By.Column) != f.Proof.Table.TypeOf(c.By.Theirs) {
		return fmt.Sprintf("cast(%s as text) = cast(%s as text)", child, parent)
	}
	return child + " = " + parent
}

// holds is true for the rows of another table that hold the marker, or the reference where a member has that from then on, and says how many one
// create has made; 0: what came there in the one create is not sent any more.
func holds(f *File, o Beside) (condition string, rows int) {
	column := f.Dialect.TableName(o.Table) + "." + f.Dialect.Name(o.Column)
	condition = f.Proof.asks(contains(f.Dialect, column, !o.Inside))
	if o.Again > 0 || len(o.texts) == 0 { // the marker was there again
		return condition, o.Rows
	}
	template, rows := "", 0
	for _, text := range o.texts {
		switch t := f.Draft.Templates[text]; {
		case strings.Contains(t, ".Intent.Marker") && !strings.Contains(template, ".Intent.Marker"):
			template, rows = t, 1
		case strings.Contains(t, referenceTemplate) && template == "":
			template, rows = t, 1
		case t == template && t != "":
			rows++
		}
	}
	switch {
	case strings.Contains(template, referenceTemplate):
		condition = strings.ReplaceAll(contains(f.Dialect, column, !o.Inside && template == referenceTemplate), ":marker", ":reference")
	case o.counts():
		rows = o.Rows
	}
	return condition, rows
}

// name distinguishes the child from the others.
func (c Child) name(all []Child) string {
	same := func(o Child) bool { return o.Table.FullName() == c.Table.FullName() && o.By != c.By }
	if slices.ContainsFunc(all, same) {
		return Slug(c.Table.FullName() + " by " + c.By.Column)
	}
	return Slug(c.Table.FullName())
}
