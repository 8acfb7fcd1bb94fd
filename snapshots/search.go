package snapshots

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Place is a table in which a text was found.
type Place struct {
	Table   string
	Columns []string // that hold it
	Rows    int      // that hold it; a search counts a few
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
			continue
		}
		found = append(found, Place{Table: l.Table.FullName(), Columns: l.Columns, Rows: 1})
	}
	return found, unsearched, nil
}
