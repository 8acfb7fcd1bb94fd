package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// namedWith finds that the marker's member does not make two creates one by itself: with the same marker in it, and other values in all else that
// differs from create to create, a second create makes a second row. It does so together with that then, or that does without it.
func namedWith(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	file, members := drafting.Anew(i.file, r.Natural)
	if len(members) == 0 {
		return nil
	}
	asking, err := i.questionerFor(file)
	if err != nil {
		return err
	}
	asking.target = drafting.DrawingAnew(asking.target, i.file.Draft.Name, members)
	answers, markers := asking.done(ctx, "same-text", "[{send: {}}, {send: {key: fresh}}]")
	if len(answers) < 2 || !answers[1].Done() {
		return asking.err
	}
	letBe(ctx, 2*i.waited) // the row may come behind the answer
	if i.made(ctx, markers[0]) > 1 {
		r.With = members
		i.file.Proof.Unfit = append(i.file.Proof.Unfit, members...) // with another value it is another thing
	}
	return asking.err
}
