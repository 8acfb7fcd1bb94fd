package learn

import (
	"context"
	"fmt"

	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// provedByKey looks for the row that keeps the key of a create, where nothing of its body is stored, as where it adds to a balance: one create is
// sent as the source has it. It reports whether there is one. If so, the file says what is known of such creates.
func provedByKey(ctx context.Context, i *inquiry) (bool, error) {
	if _, isDatabase := i.db.(*databases.Database); !isDatabase || !drafting.MayAskByKey(i.file.Draft) {
		return false, nil
	}
	before := i.file
	asAtFirst(i)
	drafting.AsksByKey(&i.file)
	asking, err := i.questioner()
	if err != nil {
		i.file = before
		return false, err
	}
	fmt.Fprintln(i.Said, "sending one create as the source has it, and looking for its key")
	answers, keys := asking.done(ctx, "by-key", "[{send: {}}]")
	if len(answers) == 0 || !answers[0].Done() || len(keys) != 1 || !foundByKey(ctx, i, answers[0], keys[0]) {
		i.file = before
		return false, asking.err
	}
	p := i.file.Proof
	i.file.Doubts = nil // of what was tried before
	i.file.Doubt("Whether creates make anything but what keeps their keys: nothing of a body was found in a row, so rows are those of %s with the key. Scenarios that send a key twice for two things, or none, are left out.", p.Table.FullName())
	fmt.Fprintf(i.Said, "it was answered %d; its key landed in %s.%s\n", answers[0].Status, inert.Comment(p.Table.FullName()), inert.Comment(p.Column))
	i.children(ctx)
	if err := learnByKey(ctx, i); err != nil {
		fmt.Fprintf(i.Said, "a create could not be repeated: %s\n", err)
		i.file.Doubt("What is promised: a create could not be repeated.")
	}
	return true, nil
}

// foundByKey proves where a create has left its key.
func foundByKey(ctx context.Context, i *inquiry, a drafting.Answer, key string) bool {
	c := drafting.Created{Status: a.Status, Location: a.Location, Answer: a.Body, Text: a.Text, Written: a.Written, Dialect: i.file.Dialect, Marker: key}
	for n := 0; n < looks && ctx.Err() == nil; n++ {
		if n > 0 {
			letBe(ctx, betweenLook)
		}
		if c.Landings, _ = i.db.Search(ctx, i.tables, key); len(c.Landings) == 0 {
			newTables(ctx, i)
			c.Landings, _ = i.db.Search(ctx, i.tables, key)
		}
		if p := drafting.ProveByKey(i.file.Draft, c); p != nil {
			i.file.Proof, i.looked = p, n+1
			return true
		}
	}
	return false
}

// learnByKey repeats a create that is found by its key, and writes down what the answers show, and which numbers it changes.
func learnByKey(ctx context.Context, i *inquiry) error {
	before := summed(ctx, i)
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	fmt.Fprintln(i.Said, "repeating a create to learn what is promised: again, with another body under its key, eight at once, three times")
	r, err := i.repeatedOnce(ctx, asking)
	if err != nil || !r.First.Done() || r.Rows != 1 {
		return err
	}
	if together(ctx, i, asking, &r) {
		i.file.Learn(r)
		return asking.err
	}
	if err := mismatches(ctx, i, asking, &r); err != nil {
		return err
	}
	if err := books(ctx, i, r, before); err != nil {
		return err
	}
	if err := unlinked(ctx, i, r); err != nil {
		return err
	}
	i.file.Learn(r)
	learnLimit(ctx, i, asking)
	return asking.err
}
