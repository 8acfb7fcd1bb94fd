package learn

import (
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// near are the tables that may be the target's though nothing but a name, a number or a count speaks for it. Where the URL of the database names
// schemas, others may be another program's: of those, only tables count that a foreign key links to one of these.
func near(i *inquiry) []databases.Table {
	if !databases.NamesSchema(i.Database) {
		return i.tables
	}
	var all []databases.Table
	for _, t := range i.tables {
		if t.Schema == "" || slices.ContainsFunc(i.tables, func(o databases.Table) bool { return o.Schema == "" && (refersTo(t, o) || refersTo(o, t)) }) {
			all = append(all, t)
		}
	}
	return all
}

func refersTo(t, other databases.Table) bool {
	return slices.ContainsFunc(t.Refers, func(r databases.Reference) bool { return r.Table == other.FullName() })
}
