package learn

import (
	"context"
	"fmt"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// stores holds that a row keeps what an altered body says, before runs are told to look for it there: a create of its own with such a body shows
// it. A number may be cut to a range, and be a flag.
func stores(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	changed := false
	for body, pointer, ok := drafting.Altered(i.file); ok; body, pointer, ok = drafting.Altered(i.file) {
		kept, err := keeps(ctx, i, body, pointer)
		if err != nil {
			return err
		}
		if kept {
			break
		}
		drafting.AlterOtherwise(&i.file, pointer)
		changed = true
	}
	if !changed || r.Altered == nil {
		return nil
	}
	asking, err := i.questioner()
	if err != nil || !asking.alters() {
		return err
	}
	r.Altered = nil
	_, _, err = askAltered(ctx, i, asking, r)
	return err
}

// keeps reports that the row of a create keeps what its body says in a member, as far as is known.
func keeps(ctx context.Context, i *inquiry, body map[string]any, pointer string) (bool, error) {
	column, _ := drafting.Kept(i.file)
	if column == "" {
		return true, nil
	}
	asking, err := i.questionerWith(body)
	if err != nil {
		return false, err
	}
	answers, markers := asking.ask(ctx, "stores", 1, "[{send: {}}]")
	if len(answers) == 0 || !answers[0].Done() || i.made(ctx, markers[0]) != 1 {
		return true, asking.err
	}
	said, _ := jsonpointer.Resolve(body, pointer)
	return drafting.Same(i.row[column], fmt.Sprint(said)), nil
}

// askAltered asks what another body is answered, behind a create and its repetition. It returns how many rows hold the marker of the first body,
// and the markers; nil: not all was answered.
func askAltered(ctx context.Context, i *inquiry, asking *questioner, r *drafting.Repeated) (rows int, markers []string, err error) {
	answers, markers := asking.done(ctx, "altered", repeating(i.timed, "", true))
	if len(answers) < 3 {
		return 0, nil, asking.err
	}
	r.ApartFromLater()
	r.First, r.Again, r.Altered, r.Row = answers[0], answers[1], &answers[2], nil // all of one create
	if rows = i.made(ctx, markers[0]); rows > 0 {
		r.Row = i.row
	}
	return rows, markers, asking.err
}
