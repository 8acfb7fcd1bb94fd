package learn

import (
	"context"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// states looks once more at the row of the first create, which was never repeated: a job may have written a later state of the thing as a row of
// its own, behind the answer, or later creates may have changed it. Where the id is the whole primary key, there can be one row only.
func states(ctx context.Context, i *inquiry, r drafting.Repeated) {
	db, is := i.db.(*databases.Database)
	p := i.file.Proof
	if !is || !oneRowEach(i, r) || p.Identity == "" || p.Shown != (databases.Shown{}) || len(p.Several.Rows) > 0 || p.Through != nil {
		return
	}
	rows, err := db.With(ctx, p.Table, p.Identity, p.Row[p.Identity])
	switch {
	case err != nil:
	case slices.Equal(p.Table.Primary, []string{p.Identity}):
		drafting.Pushed(&i.file, rows)
	default:
		drafting.Versioned(&i.file, rows)
	}
}
