package drafting

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// parent is what the created row refers to where the answer names that: a create makes a row of it, too; false: it names the created row.
func parent(f *File) (databases.Reference, bool) {
	n := slices.IndexFunc(f.Proof.Table.Refers, func(r databases.Reference) bool { return r.Column == f.Proof.Identity })
	if n < 0 || f.Proof.Identity == "" || len(f.Proof.Table.Primary) == 1 && f.Proof.Table.Primary[0] == f.Proof.Identity {
		return databases.Reference{}, false
	}
	return f.Proof.Table.Refers[n], true
}

// childless counts the rows that the answers name and to which nothing refers: a create makes none, which no row query shows, as a marker
// stands only in what refers to them.
func childless(f *File, r databases.Reference) {
	of, own := f.Dialect.TableName(r.To()), f.Dialect.TableName(f.Proof.Table)
	f.line("      - name: %s # no create makes one", literal(Slug(r.Table+" without "+f.Proof.Table.FullName())))
	f.line("        query: %s", literal(fmt.Sprintf("select count(*) from %s where not exists (select 1 from %s where %s.%s = %s.%s)",
		of, own, own, f.Dialect.Name(r.Column), of, f.Dialect.Name(r.Theirs))))
	f.line("        delta: 0")
}

// parentless counts the rows of child tables that refer to nothing, where no foreign key keeps them from it and creates leave none: those that a
// create has made before it lost a race are found by no row query, as the row to which they were to belong was never made.
func parentless(f *File, counted []Child) {
	for _, c := range counted {
		if !c.Whole {
			continue
		}
		child, parent := f.Dialect.TableName(c.Table), f.Dialect.TableName(f.Proof.Table)
		f.line("      - name: %s # no create leaves one", literal(c.name(f.Children)+"-without-"+Slug(f.Proof.Table.FullName())))
		f.line("        query: %s", literal(fmt.Sprintf("select count(*) from %s where %s.%s is not null and not exists (select 1 from %s where %s)",
			child, child, f.Dialect.Name(c.By.Column), parent, joined(f, c))))
		f.line("        delta: 0")
	}
}

// MayBeParentless reports that the rows of a child table which are counted may come to refer to nothing: no foreign key keeps them from it. Where
// what was made is removed, or messages are, they may do so rightly.
func MayBeParentless(f *File, c Child) bool {
	return c.Implied && c.Rows > 0 && !c.Varies && !bookkeeping.MatchString(c.Table.Name) && !c.atMost() && len(f.Draft.Remove) == 0 && f.Proof.Removal == nil
}
