package learn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// findKey looks for the header that the target takes for the key of a request, where a repetition without one made a second row. With
// all of the usual names at once, and then with each, it sends a create and repeats it. Where that makes no second row, and not with
// another create either, the header is the key. It returns what came of the repetition then, or what it was given.
func findKey(ctx context.Context, i *inquiry, r drafting.Repeated) (drafting.Repeated, error) {
	tried := i.file.Draft.UsualKeys()
	fmt.Fprintf(i.Said, "the same request again made %d rows; repeating a create with each header that may be the key: %s\n", r.Rows, strings.Join(tried, ", "))
	without := i.file.Draft
	i.file.Draft = without.WithAll(tried)
	all, err := i.questioner()
	if err != nil {
		i.file.Draft = without
		return r, err
	}
	names := tried
	if answers, markers := all.done(ctx, "headers", "[{send: {}}, {send: {}}]"); len(answers) > 1 && answers[0].Done() && answers[1].Done() && i.made(ctx, markers[0]) > 1 {
		names = nil // with all of them at once: none of them is
	}
	for _, name := range names {
		i.file.Draft = without.WithKeyIn(drafting.InHeader(name))
		asking, err := i.questioner()
		if err != nil {
			i.file.Draft = without
			return r, err
		}
		if !makesOneRow(ctx, i, asking) {
			continue
		}
		with, err := i.repeatedOnce(ctx, asking)
		if err == nil && with.First.Done() && !with.Again.Failed() && with.Rows == 1 {
			fmt.Fprintf(i.Said, "with %s the same request again made no second row, twice: it is the key\n", name)
			i.file.KeySeen = "without this header the same request again made a second row, and with it none"
			return with, nil
		}
	}
	i.file.Draft, i.file.KeysTried = without, tried
	fmt.Fprintln(i.Said, "with none of them a repetition was seen to make no second row")
	return r, ctx.Err()
}

// makesOneRow reports that a create and its repetition make one row.
func makesOneRow(ctx context.Context, i *inquiry, asking *questioner) bool {
	answers, markers := asking.done(ctx, "header", "[{send: {}}, {send: {}}]")
	return len(answers) > 1 && answers[0].Done() && !answers[1].Failed() && i.made(ctx, markers[0]) == 1
}

// heed has the header tried first that a refusal names, where it is one that usually holds a key and the source names none.
func heed(i *inquiry, refusal string) {
	beginToVary(i)
	name := i.plain.KeyNamedIn(refusal)
	if name == "" || name == i.asked {
		return
	}
	i.asked = name
	key := drafting.InHeader(name)
	i.places = append([]targets.Key{key}, slices.DeleteFunc(i.places, func(other targets.Key) bool { return other.Key == key.Key })...)
}
