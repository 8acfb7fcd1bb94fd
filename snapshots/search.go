package snapshots

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Place is a table in which a text was found.
type Place struct {
	Table   string
	Columns []string            // that hold it, in whatever letters
	Rows    int                 // that hold it; a search counts a few
	Held    []map[string]string // these rows
}

// searchedFor bounds a search of the whole database.
const searchedFor = 30 * time.Second

// Search looks for a text in all tables that the database shows, for searchedFor at most.
// It is for one message: whether the target made nothing, or the row query looks in
// another place. Unsearched are the tables that it did not get through; the error is that
// the catalogue could not be read.
func (r *Reader) Search(ctx context.Context, text string) (found []Place, unsearched []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	tables, err := r.db.Catalogue(ctx)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(tables, func(a, b databases.Table) int { return cmp.Compare(a.Schema, b.Schema) }) // its own first
	landings, unsearched := r.db.Search(ctx, tables, text)
	for _, l := range landings {
		if n := len(found) - 1; n >= 0 && found[n].Table == l.Table.FullName() {
			found[n].Rows++
			found[n].Held = append(found[n].Held, l.Row)
			continue
		}
		columns := l.Columns
		if len(columns) == 0 {
			columns = slices.DeleteFunc(slices.Sorted(maps.Keys(l.Row)), func(c string) bool {
				return !strings.Contains(strings.ToLower(l.Row[c]), strings.ToLower(text))
			})
		}
		found = append(found, Place{Table: l.Table.FullName(), Columns: columns, Rows: 1, Held: []map[string]string{l.Row}})
	}
	return found, unsearched, nil
}

// Sizes counts the rows of tables. Those that could not be counted are missing.
func (r *Reader) Sizes(ctx context.Context, of func(table string) bool) map[string]int {
	sizes := map[string]int{}
	tables, err := r.db.Catalogue(ctx)
	if err != nil {
		return nil
	}
	for _, t := range tables {
		if !of(t.FullName()) {
			continue
		}
		if n, err := r.db.Count(ctx, t); err == nil {
			sizes[t.FullName()] = n
		}
	}
	return sizes
}

// Named returns the one row of a table that has a value in a column; nil: there is none, or several.
func (r *Reader) Named(ctx context.Context, table, column, value string) map[string]string {
	tables, err := r.db.Catalogue(ctx)
	n := slices.IndexFunc(tables, func(t databases.Table) bool { return t.FullName() == table && t.TypeOf(column) != "" })
	if err != nil || n < 0 {
		return nil
	}
	rows, err := r.db.With(ctx, tables[n], column, value)
	if err != nil || len(rows) != 1 {
		return nil
	}
	return rows[0]
}
