package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// turnsAway learns whether a create without the headers that say who sends is refused, and makes nothing: then runs see that nobody
// without them is told of what was created.
func turnsAway(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	c := drafting.CredentialOf(i.file)
	if len(c.Headers) == 0 || r.Rows != 1 {
		return nil
	}
	asking, err := i.questionerFor(drafting.WithCredential(i.file, c))
	if err != nil {
		return err
	}
	answers, markers := asking.ask(ctx, "credential", 1, "[{respell: {spelling: no-credential}}]")
	if len(answers) == 1 && answers[0].AsksWho() && rowsOf(ctx, i, markers[0]) == 0 {
		c.Status = answers[0].Status
		r.Credential = c
	}
	return asking.err
}
