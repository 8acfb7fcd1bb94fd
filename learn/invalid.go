package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// refuses finds a body that is refused for what it says, and leaves no row: then runs can send one, and correct it. What became of its key is seen by what
// it is answered again, and by what the corrected one is.
func refuses(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	if r.Rows != 1 {
		return nil
	}
	for _, member := range drafting.Invalids(i.file) {
		asking, err := i.questionerFor(drafting.WithInvalid(i.file, member))
		if err != nil {
			return err
		}
		answers, markers := asking.ask(ctx, "invalid", 1, "[{invalid: {}}, {invalid: {}}, {send: {}}]")
		if len(answers) != 3 {
			return asking.err
		}
		refusal := drafting.RefusalOf(member, answers[0], answers[1], answers[2], *r)
		if refusal.Status != 0 && (len(markers) < 2 || rowsOf(ctx, i, markers[1]) == 0) {
			r.Invalid = refusal
			return asking.err
		}
		if asking.err != nil {
			return asking.err
		}
	}
	return nil
}
