package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// onlyOnce finds rows by the column that the database takes a text in once, where another one keeps it, too, and a create with the same text made
// no second row: then the text names the thing, and is not what a slug is made of, which is another one for a second row.
func onlyOnce(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	column := drafting.OnlyOnce(&i.file)
	if column == "" || r.Rows != 1 {
		return nil
	}
	if i.file.Draft.Keyed() {
		asking, err := i.questioner()
		if err != nil {
			return err
		}
		answers, markers := asking.done(ctx, "only-once", "[{send: {}}, {send: {key: fresh}}]")
		if len(answers) < 2 || i.made(ctx, markers[0]) != 1 {
			return asking.err
		}
	}
	i.file.Proof.Column = column
	return nil
}
