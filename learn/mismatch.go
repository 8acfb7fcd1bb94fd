package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// mismatches asks how else another body under a known key is refused, and what else is refused, so that it is known by which words the one
// can be told from the other: after the first create and beside it, and for other mistakes in the body and in the key.
func mismatches(ctx context.Context, i *inquiry, asking *questioner, r *drafting.Repeated) error {
	if r.Altered == nil || !r.Altered.Refused() || r.Replacing != nil {
		return nil
	}
	for range 2 {
		if answers, _ := asking.done(ctx, "mismatch", "[{send: {}}, {alter: {}}]"); len(answers) == 2 && answers[0].Done() && answers[1].Refused() {
			r.Mismatches = append(r.Mismatches, answers[1])
		}
	}
	beside, _ := asking.ask(ctx, "beside", 1, "[{burst: {copies: 4, altered: 2}}]")
	for _, a := range beside {
		if a.Refused() && a.Status == r.Altered.Status {
			r.Mismatches = append(r.Mismatches, a)
		}
	}
	others := drafting.WithKeysOfForms(i.file)
	if other, can := drafting.WithoutAltered(i.file); can {
		others = append(others, other)
	}
	for _, other := range others {
		differently, err := i.questionerFor(other)
		if err != nil {
			return err
		}
		answers, _ := differently.ask(ctx, "otherwise", 1, "[{send: {}}]")
		r.Unlike = append(r.Unlike, answers...)
	}
	return asking.err
}
