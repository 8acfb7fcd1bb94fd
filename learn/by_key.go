package learn

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// provedByKey looks for the row that keeps the key of a create, where nothing of its body is stored, as where it adds to a balance: one create is
// sent as the source has it. It reports whether there is one. If so, the file says what is known of such creates.
func provedByKey(ctx context.Context, i *inquiry) bool {
	if _, isDatabase := i.db.(*databases.Database); !isDatabase || !drafting.MayAskByKey(i.file.Draft) {
		return false
	}
	before := i.file
	asAtFirst(i)
	drafting.AsksByKey(&i.file)
	asking, err := i.questioner()
	if err != nil { // why nothing was found is told by what was tried before
		i.file = before
		return false
	}
	fmt.Fprintln(i.Said, "sending one create as the source has it, and looking for its key")
	answers, keys := asking.done(ctx, "by-key", "[{send: {}}]")
	if len(answers) == 0 || !answers[0].Done() || len(keys) != 1 || !foundByKey(ctx, i, answers[0], keys[0]) {
		i.file = before
		return false
	}
	p := i.file.Proof
	i.file.Doubts = nil // of what was tried before
	i.file.Doubt("Whether creates make anything but what keeps their keys: nothing of a body was found in a row, so rows are those of %s with the key. Scenarios that send a key twice for two things, or none, are left out.", p.Table.FullName())
	fmt.Fprintf(i.Said, "it was answered %d; its key landed in %s.%s\n", answers[0].Status, inert.Comment(p.Table.FullName()), inert.Comment(p.Column))
	i.children(ctx)
	rows, err := learnByKey(ctx, i)
	switch {
	case err != nil:
		fmt.Fprintf(i.Said, "a create could not be repeated: %s\n", err)
		i.file.Doubt("What is promised: a create could not be repeated.")
	case !rows:
		fmt.Fprintf(i.Said, "%s has a row for each request, or one that was refused, too: it tells nothing of creates\n", inert.Comment(p.Table.FullName()))
		i.file = before
		return false
	}
	if drafting.Hollow(&i.file) {
		fmt.Fprintf(i.Said, "nothing but %s was seen to change: what creates make is not in this database, or does not change by the same with each\n", inert.Comment(p.Table.FullName()))
		i.file = before
		return false
	}
	return true
}

// leastMarker is the least number that is a marker.
const leastMarker = 100_000_000

// accumulates reports that the number by which the first create was found has grown by another marker since: creates add to one row, which the first
// of them made, or found with nothing in it.
func accumulates(ctx context.Context, i *inquiry) bool {
	p := i.file.Proof
	if i.file.Draft.Number == "" || !drafting.MayAskByKey(i.file.Draft) || len(p.Table.Primary) == 0 {
		return false
	}
	rows, err := i.db.With(ctx, p.Table, p.Table.Primary[0], p.Row[p.Table.Primary[0]])
	return err == nil && slices.ContainsFunc(rows, func(row map[string]string) bool {
		was, wasNumber := strconv.ParseFloat(p.Row[p.Column], 64)
		is, isNumber := strconv.ParseFloat(row[p.Column], 64)
		return p.Table.SameRow(row, p.Row) && wasNumber == nil && isNumber == nil && is-was >= leastMarker
	})
}

// foundByKey proves where a create has left its key.
func foundByKey(ctx context.Context, i *inquiry, a drafting.Answer, key string) bool {
	c := a.Created(i.file.Dialect)
	c.Marker = key
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

// learnByKey repeats a create that is found by its key, and writes down what the answers show, and which numbers it changes. It reports whether the rows with
// a key are those of creates, and no log of requests.
func learnByKey(ctx context.Context, i *inquiry) (rows bool, err error) {
	before := summed(ctx, i)
	asking, err := i.questioner()
	if err != nil {
		return true, err
	}
	announce(i, asking)
	r, err := i.repeatedOnce(ctx, asking)
	switch {
	case err != nil || !r.First.Done():
		return true, err
	case r.Rows != 1 && (r.Rows == 0 || drafting.KeepsKeys(i.file.Proof.Table)):
		return false, nil
	}
	if told, err := tellsRefused(ctx, i, r); !told || err != nil {
		return told, err
	}
	if together(ctx, i, asking, &r) {
		i.file.Learn(r)
		return true, asking.err
	}
	if err := mismatches(ctx, i, asking, &r); err != nil {
		return true, err
	}
	if err := books(ctx, i, r, before); err != nil {
		return true, err
	}
	if err := unlinked(ctx, i, r); err != nil {
		return true, err
	}
	i.file.Learn(r)
	learnLimit(ctx, i, asking)
	gone(ctx, i)
	return true, asking.err
}

// tellsRefused reports that a create which is refused leaves no row with its key, or one that a column tells from those of creates that were done.
func tellsRefused(ctx context.Context, i *inquiry, r drafting.Repeated) (bool, error) {
	if r.Row == nil {
		return true, nil
	}
	key, err := refusedKey(ctx, i)
	if err != nil || key == "" {
		return true, err
	}
	rows := rowsIn(search(ctx, i, key), i.file.Proof.Table)
	if len(rows) == 0 {
		return true, nil
	}
	done := []map[string]string{i.file.Proof.Row, r.Row}
	if other, alters := drafting.AlteredAfter(i.file, r); alters { // what tells one body from another does not tell what was done
		asking, err := i.questionerFor(withBody(i.file, other))
		if err != nil {
			return true, err
		}
		if answers, keys := asking.done(ctx, "done", "[{send: {}}]"); len(answers) == 1 && answers[0].Done() && i.made(ctx, keys[0]) == 1 {
			done = append(done, i.row)
		}
		if asking.err != nil {
			return true, asking.err
		}
	}
	return drafting.TellDone(i.file.Proof, done, rows[0]), nil
}

// refusedKey is the key of a create that was refused for what its body says; empty: none was.
func refusedKey(ctx context.Context, i *inquiry) (string, error) {
	for _, member := range drafting.Invalids(i.file) {
		asking, err := i.questionerFor(drafting.WithInvalid(i.file, member))
		if err != nil {
			return "", err
		}
		answers, keys := asking.ask(ctx, "refused", 1, "[{invalid: {}}]")
		if asking.err != nil {
			return "", asking.err
		}
		if len(answers) == 1 && answers[0].Refused() && len(keys) == 1 {
			return keys[0], nil
		}
	}
	return "", nil
}
