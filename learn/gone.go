package learn

import (
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// untilMoved is how long a row is watched that could be moved.
const untilMoved = 4 * time.Second

// gone looks whether the row of the first create is still there at the end, as jobs may clear rows away, or move them to a table of the same columns,
// where they count as well. It reports whether it is gone.
func gone(ctx context.Context, i *inquiry) bool {
	if !foundByOwn(i) {
		return false
	}
	p := i.file.Proof
	has := func(t databases.Table) bool {
		rows, err := i.db.With(ctx, t, p.Column, p.Row[p.Column])
		return err != nil || len(rows) > 0
	}
	archives := slices.DeleteFunc(slices.Clone(near(i)), func(t databases.Table) bool {
		return t.FullName() == p.Table.FullName() || !drafting.SameColumns(t, p.Table)
	})
	for until := time.Now().Add(untilMoved); has(p.Table); letBe(ctx, betweenLook) {
		if len(archives) == 0 || ctx.Err() != nil || time.Now().After(until) {
			return false
		}
	}
	for _, t := range archives {
		rows, err := i.db.With(ctx, t, p.Column, p.Row[p.Column])
		if err != nil || len(rows) == 0 {
			continue
		}
		i.file.Children = slices.DeleteFunc(i.file.Children, func(c drafting.Child) bool { return c.Table.FullName() == t.FullName() })
		p.Others = slices.DeleteFunc(p.Others, func(o drafting.Beside) bool { return o.Table.FullName() == t.FullName() })
		if p.Archive = &t; slices.ContainsFunc(rows, func(row map[string]string) bool { return !stillThat(p, row) }) {
			p.Rekeyed, p.Identity, p.Shown = true, "", databases.Shown{}
		}
		i.file.Doubt("Whether rows of %s are moved to %s: the first create's was, while others were made. They are counted in both.", p.Table.FullName(), t.FullName())
		return true
	}
	if !i.file.Draft.Keyed() { // a later create of the same thing may have replaced it
		return true
	}
	i.file.Doubt("Whether rows of %s stay: the first create's was no longer there at the end, and nothing had asked for that. A run calls a row lost that goes before it looks; if a job clears rows away, let it leave those of a run.", p.Table.FullName())
	return true
}

// stillThat reports that a row which was moved is the first create's, under the name that it had. Without a key, what else is in it may have changed.
func stillThat(p *drafting.Proof, row map[string]string) bool {
	bare := len(p.Table.Keys()) == 0 && p.Identity != ""
	return p.Table.SameRow(row, p.Row) || bare && row[p.Identity] == p.Row[p.Identity]
}

// foundByOwn reports that the database has shown the first create's row, and that a column of it holds the marker.
func foundByOwn(i *inquiry) bool {
	p := i.file.Proof
	return i.db != nil && i.file.Database && p != nil && p.Row != nil && p.Through == nil && p.Row[p.Column] != ""
}
