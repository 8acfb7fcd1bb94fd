package drafting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Where is how a row is found by the marker.
type Where struct {
	Column  string
	Exact   bool              // the column holds the marker and nothing else
	ByKey   bool              // it is the key in place of a marker, and nothing of the body is known to be stored
	Done    Cell              // what the rows of creates that were done have, and those of refused ones have not; no column: these leave none
	Through *Through          // nil: the column itself holds it
	Shards  []databases.Table // the other tables among which such rows are spread
	Archive *databases.Table  // to which rows are moved after a while; nil: they stay
	Rekeyed bool              // the rows there have keys of their own, which no answer names
	Version string            // column that numbers the rows of one thing, of which the first is what a create makes; empty: none
	Within  string            // where in the column's JSON the list is, as $.items, of which each create makes an element; empty: each makes a row
	moved   bool              // it is that table
}

// Through is a table whose rows creates share that say the same, such as the customers, each by a name: the created row refers to one that holds
// the marker.
type Through struct {
	Table  databases.Table
	Column string // holds the marker
	By     databases.Reference
	Counts []string // columns that each create makes greater by one
}

// Sharing are the tables of which one may hold what each create makes, where the row that holds the marker may be one that creates share: theirs
// refer to it, and one create makes one.
func Sharing(f File) []Child {
	p := f.Proof
	if !f.Draft.Keyed() || f.Draft.Changes() || f.Draft.Number != "" || Conditional(f.Draft) || !p.Exact || p.Through != nil || len(p.Several.Rows) > 0 || !Single(f) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Children), func(c Child) bool {
		notes := (bookkeeping.MatchString(c.Table.Name) || HoldsMessages(c.Table)) && !namedAs(c.Table.Name, f.Draft.Path) // of creates, and not what they make
		return c.Rows != 1 || notes || !alikeIn(c.Table.TypeOf(c.By.Column), p.Table.TypeOf(c.By.Theirs))
	})
}

// alikeIn reports that columns of two types may hold the same id: an int refers to an integer, or to a bigint.
func alikeIn(a, b string) bool {
	number := func(kind string) bool { return databases.Column{Type: kind}.HoldsNumber() }
	return a == b || number(a) && number(b)
}

// someNumber matches what may be a balance or a count.
var someNumber = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// grown are the columns of a row with another number than the first create's row has, and which are no key: each create may add to them, and then the
// row is what creates make.
func (p *Proof) grown(row map[string]string) (columns []string) {
	keys := slices.Concat(p.Table.Keys()...)
	for _, c := range p.Table.Columns {
		if !slices.Contains(keys, c.Name) && someNumber.MatchString(row[c.Name]) && row[c.Name] != p.Row[c.Name] {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// counts reports that columns of the shared row say how many creates there were: one after the first, and two now.
func (p *Proof) counts(shared map[string]string, columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return p.Row[c] != "1" || shared[c] != "2" })
}

// FindThrough takes the rows of another table for what creates make, where two creates under keys of their own have shared the row with the marker
// and made a row each there. Which is whose must be seen by the key that stands in it, or by the answer that names it; where they have changed
// numbers of the row that they share, by the answer, and the numbers may be no more than counts. It reports whether it is.
func FindThrough(f *File, child Child, shared map[string]string, rows []map[string]string, answers []Answer) bool {
	grown := f.Proof.grown(shared)
	if len(grown) > 0 && !f.Proof.counts(shared, grown) {
		return false
	}
	if len(rows) != 2 || len(answers) != 2 {
		return false
	}
	if whose(rows[0], answers[1]) || !whose(rows[0], answers[0]) && !whose(rows[1], answers[1]) {
		rows = []map[string]string{rows[1], rows[0]}
	}
	keyed := whose(rows[0], answers[0]) && whose(rows[1], answers[1])
	other := func(row map[string]string, a Answer) Proof {
		l := databases.Landing{Table: child.Table, Columns: []string{child.By.Column}, Row: row}
		return f.Draft.landed(a.Created(f.Dialect), l, place{Proof: Proof{Table: child.Table, Text: f.Proof.Text, Row: row}}).Proof
	}
	named := func(first, second Proof) bool {
		return second.Identity != "" && first.Identity == second.Identity && first.Named == second.Named && first.Row[first.Identity] != second.Row[second.Identity] && !f.Draft.echoed(second.Named)
	}
	first, second := other(rows[0], answers[0]), other(rows[1], answers[1])
	if !keyed && !named(first, second) {
		first, second = other(rows[1], answers[0]), other(rows[0], answers[1])
	}
	if (!keyed || len(grown) > 0) && !named(first, second) {
		return false
	}
	second.Where = Where{Column: child.By.Column, Exact: true, Through: &Through{f.Proof.Table, f.Proof.Column, child.By, grown}}
	second.Late, second.Others = f.Proof.Late, f.Proof.Others
	f.Proof, f.Children = &second, nil
	return true
}

// whose reports that a row has the key of the request with that answer.
func whose(row map[string]string, a Answer) bool {
	for _, value := range row {
		if a.Key != "" && strings.EqualFold(value, a.Key) {
			return true
		}
	}
	return false
}

// condition is true for the rows that refer to one with the marker.
func (t *Through) condition(f *File) string {
	of := f.Dialect.TableName(t.Table)
	return fmt.Sprintf("%s.%s in (select %s.%s from %s where %s)", f.Dialect.TableName(f.Proof.Table), f.Dialect.Name(f.Proof.Column), of, f.Dialect.Name(t.By.Theirs), of,
		contains(f.Dialect, of+"."+f.Dialect.Name(t.Column), true))
}

// sharedCounts writes the effects of what the shared row counts.
func (t *Through) sharedCounts(f *File) {
	of := f.Dialect.TableName(t.Table)
	condition := f.Proof.asks(contains(f.Dialect, of+"."+f.Dialect.Name(t.Column), true)) // effects are asked with what rows are
	for _, column := range t.Counts {
		f.line("      - name: %s # of the row that creates share which say the same", literal(Slug(t.Table.FullName()+"."+column)))
		f.line("        query: %s", literal(fmt.Sprintf("select coalesce(sum(%s), 0) from %s where %s", f.Dialect.Name(column), of, condition)))
		f.line("        value: 1")
	}
}
