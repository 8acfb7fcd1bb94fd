package drafting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

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
		kind := ""
		if c.Kind.Column != "" {
			kind = fmt.Sprintf(" and %s.%s = %s", child, f.Dialect.Name(c.Kind.Column), quoted(f.Dialect, c.Kind.Value))
		}
		f.line("      - name: %s # no create leaves one", literal(c.name(f.Children)+"-without-"+Slug(f.Proof.Table.FullName())))
		f.line("        query: %s", literal(fmt.Sprintf("select count(*) from %s where %s.%s is not null%s and not exists (select 1 from %s where %s)",
			child, child, f.Dialect.Name(c.By.Column), kind, parent, joined(f, c))))
		f.line("        delta: 0")
	}
}

// quoted is a text in a query.
func quoted(d databases.Dialect, text string) string {
	if d == databases.MariaDB {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// ofNothing matches names of tables whose rows may rightly name a thing that was never made, or is not made yet.
var ofNothing = regexp.MustCompile(`(?i)error|fail|reject|declin|refus|denied|dead|draft|cart|basket|staging|temp`)

// MayBeParentless reports that the rows of a child table which are counted may come to refer to nothing: no foreign key keeps them from it. Where
// what was made is removed, or messages are, or where it may be in another table, they may do so rightly; so they may where a column refers by its name to things of any table, and row,
// one of them, does not say of which. The kind is what it says.
func MayBeParentless(f *File, c Child, row map[string]string) (kind Kind, may bool) {
	p := f.Proof
	removed, elsewhere := len(f.Draft.Remove) > 0 || p.Removal != nil, p.Archive != nil || len(p.Shards) > 0 || p.Through != nil
	if !c.Implied || c.Rows == 0 || c.Varies || c.atMost() || removed || elsewhere || bookkeeping.MatchString(c.Table.Name) || ofNothing.MatchString(c.Table.Name) {
		return kind, false
	}
	if strings.Contains(squeezed(c.By.Column), singular(squeezed(p.Table.Name))) {
		return kind, true
	}
	stem, ends := strings.CutSuffix(squeezed(c.By.Column), "id")
	for _, column := range c.Table.Columns {
		if ends && squeezed(column.Name) == stem+"type" && row[column.Name] != "" && !column.HoldsNumber() {
			return Kind{column.Name, row[column.Name]}, true
		}
	}
	return kind, false
}
