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
