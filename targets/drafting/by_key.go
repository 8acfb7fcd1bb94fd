package drafting

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// MayAskByKey reports that rows may be asked for by the key of a create: the client chooses one, and it is not in the path.
func MayAskByKey(d Draft) bool {
	return slices.Contains([]contract.KeyPlace{contract.KeyInHeader, contract.KeyInQuery, contract.KeyInCookie, contract.KeyInBody}, d.Key.In) && len(d.Key.Issued) == 0
}

// AsksByKey lets creates have the body of the source, with no marker in it, and asks for rows by the key. In which table they are has to be found.
func AsksByKey(f *File) {
	f.Draft.Texts, f.Draft.Number = nil, ""
	f.Children = nil
	f.Proof = &Proof{Table: databases.Table{Name: "keys"}, Where: Where{Column: "key", Exact: true, ByKey: true}}
}

// ProveByKey finds out of all rows that hold the key of a create the one that keeps it; nil: there is none.
func ProveByKey(d Draft, c Created) *Proof {
	var places []place
	for _, l := range c.Landings {
		for _, column := range l.Columns {
			if value := l.Row[column]; strings.Contains(value, c.Marker) {
				p := d.landed(c, l, place{Proof: Proof{Table: l.Table, Where: Where{Column: column, Exact: value == c.Marker, ByKey: true}, Row: l.Row}})
				places = append(places, p)
			}
		}
	}
	if len(places) == 0 {
		return nil
	}
	best := slices.MaxFunc(places, func(a, b place) int { return a.worth(d) - b.worth(d) }).Proof
	return &best
}

// KeepsKeys reports that a table keeps the keys of requests, or a log of them, and no created things.
func KeepsKeys(t databases.Table) bool { return bookkeeping.MatchString(t.Name) }

// Hollow reports that all that is known of creates is that their keys are kept: a run would pass whatever they make.
func Hollow(f *File) bool {
	p := f.Proof
	return KeepsKeys(p.Table) && len(p.Books) == 0 && len(p.Others) == 0 && !slices.ContainsFunc(f.Children, func(c Child) bool { return c.Rows > 0 })
}

// TellDone finds what the rows of creates that were done have in a column, and that of one which was refused has not: only those are rows of creates
// then. False: nothing tells them apart.
func TellDone(p *Proof, done []map[string]string, refused map[string]string) bool {
	states := func(c databases.Column) bool { return slices.ContainsFunc(namedWords(c.Name), stateWord.MatchString) }
	columns := slices.Clone(p.Table.Columns)
	slices.SortStableFunc(columns, func(a, b databases.Column) int {
		switch {
		case states(a) == states(b):
			return 0
		case states(a):
			return -1
		default:
			return 1
		}
	})
	for _, c := range columns {
		value := done[0][c.Name]
		other := func(row map[string]string) bool { return row[c.Name] != value }
		if c.Name != p.Column && quotable.MatchString(value) && refused[c.Name] != value && !slices.ContainsFunc(done, other) && !moment.MatchString(c.Type) {
			p.Done = Cell{c.Name, value}
			return true
		}
	}
	return false
}

// done is true for the rows of creates that were done; empty: no others are there.
func (p *Proof) done(d databases.Dialect) string {
	if p.Done.Column == "" {
		return ""
	}
	value := "'" + p.Done.Value + "'"
	if d != databases.PostgreSQL && (databases.Column{Type: p.Table.TypeOf(p.Done.Column)}).HoldsNumber() {
		value = p.Done.Value
	}
	return d.TableName(p.Table) + "." + d.Name(p.Done.Column) + " = " + value
}

// Unaltered lets runs send no other body: it changes a number otherwise, and no column tells by which of them the row was made.
func Unaltered(f *File, number string) {
	for _, pointer, ok := Altered(*f); ok; _, pointer, ok = Altered(*f) {
		f.Proof.Unfit = append(f.Proof.Unfit, pointer)
	}
	f.Doubt("Whether another body under the same key is refused: by it %s changes otherwise, and no column of %s tells which body a row is of, so runs send none.", number, f.Proof.Table.FullName())
}

// OwnOnly are the postings of creates with the draft's own body.
func OwnOnly(postings []Posting) []Posting {
	return slices.DeleteFunc(slices.Clone(postings), func(p Posting) bool { return p.Body != OwnBody })
}

// asks is a condition on a marker as rows are asked for.
func (p *Proof) asks(condition string) string {
	switch {
	case p.ByReference:
		return strings.ReplaceAll(condition, ":marker", ":reference")
	case p.ByKey:
		return strings.ReplaceAll(condition, ":marker", ":key")
	default:
		return condition
	}
}

// TellingColumn is the column by which the rows of creates with one body are told from those with another: what it has, in all of each, is the
// body's, such as a digest. Empty: there is none.
func TellingColumn(postings []Posting) string {
	own, _ := allBy(postings, "", OwnBody)
	other, _ := allBy(postings, "", OtherBody)
	if len(own) == 0 || len(other) == 0 {
		return ""
	}
	for _, c := range own[0].Before.Entries.Columns {
		mine, others := oneValue(own, c.Name), oneValue(other, c.Name)
		if mine != "" && others != "" && mine != others {
			return c.Name
		}
	}
	return ""
}
