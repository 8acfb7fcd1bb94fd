package learn

import (
	"context"
	"fmt"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// otherParents is how many rows are tried, at most, in the place of the one that the path names.
const otherParents = 3

// anotherParent finds a second row that the path of a keyed create can name: a key that is used under both tells whether the target goes by the path.
func anotherParent(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	db, is := i.db.(*databases.Database)
	if !is || !i.file.Draft.Keyed() || !oneRowEach(i, *r) || r.Row == nil {
		return nil
	}
	for _, b := range drafting.Parents(&i.file, near(i), i.file.Proof.Table, r.Row) {
		rows, err := db.With(ctx, b.Of, b.Key, b.Value)
		if err != nil || len(rows) != 1 {
			continue
		}
		column, segment, named := drafting.ParentColumn(i.file.Draft, b, rows[0], i.secret)
		if !named {
			continue
		}
		others, err := db.Without(ctx, b.Of, column, rows[0][column])
		if err != nil {
			continue
		}
		others = drafting.LikeRow(rows[0], others)
		for _, other := range others[:min(len(others), otherParents)] {
			parents, with, may := drafting.NamedParent(i.file.Draft, b, segment, other[column])
			if !may {
				continue
			}
			takes, err := makesRow(ctx, i, with)
			if err != nil {
				return err
			}
			if takes && i.row[b.By] == other[b.Key] { // and no other member of the request says whose it is
				r.Parents = parents
				return nil
			}
		}
		return nil
	}
	return nil
}

// makesRow reports that a create of a draft is done and makes a row.
func makesRow(ctx context.Context, i *inquiry, with drafting.Draft) (bool, error) {
	other := i.file
	other.Draft = with
	asking, err := i.questionerFor(other)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(i.Said, "sending a create to %s as well: a key may be used under both\n", with.Path)
	answers, markers := asking.done(ctx, "another-parent", "[{send: {}}]")
	return len(answers) == 1 && answers[0].Done() && i.made(ctx, markers[0]) == 1, asking.err
}
