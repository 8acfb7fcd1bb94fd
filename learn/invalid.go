package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// refuses learns whether a body with a negative number is refused for what it says, and leaves no row: then runs can send one, and correct it.
func refuses(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	with, can := drafting.WithInvalid(i.file)
	if !can || r.Rows != 1 {
		return nil
	}
	asking, err := i.questionerFor(with)
	if err != nil {
		return err
	}
	answers, markers := asking.ask(ctx, "invalid", 1, "[{invalid: {}}]")
	if len(answers) != 1 || !drafting.FindsInvalid(answers[0]) {
		return asking.err
	}
	for _, marker := range markers {
		if rowsOf(ctx, i, marker) > 0 {
			return asking.err
		}
	}
	r.Invalid = answers[0].Status
	return asking.err
}
