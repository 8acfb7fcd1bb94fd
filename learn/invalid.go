package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// refuses learns whether a body with a negative number is refused for what it says, and leaves no row: then runs can send one, and correct it. What became of
// its key is seen by what it is answered again, and by what the corrected one is.
func refuses(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	with, can := drafting.WithInvalid(i.file)
	if !can || r.Rows != 1 {
		return nil
	}
	asking, err := i.questionerFor(with)
	if err != nil {
		return err
	}
	answers, markers := asking.ask(ctx, "invalid", 1, "[{invalid: {}}, {invalid: {}}, {send: {}}]")
	if len(answers) != 3 {
		return asking.err
	}
	refusal := drafting.RefusalOf(answers[0], answers[1], answers[2], *r)
	if len(markers) > 1 && rowsOf(ctx, i, markers[1]) > 0 {
		return asking.err // of the body that was refused
	}
	r.Invalid = refusal
	return asking.err
}
