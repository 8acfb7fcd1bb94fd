package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// requestIDs draws the id of each request anew, as clients do, where the target makes as much of a repetition with another id as of one with the
// same: with the one of the source, a run would send thousands of requests that call themselves one.
func requestIDs(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	headers := drafting.RequestIDs(i.file.Draft)
	if len(headers) == 0 {
		return nil
	}
	other := i.file
	other.Draft = drafting.WithRequestIDs(i.file.Draft, headers)
	asking, err := i.questionerFor(other)
	if err != nil {
		return err
	}
	answers, markers := asking.done(ctx, "request-id", "[{send: {}}, {send: {}}]")
	if len(answers) == 2 && answers[0].Done() && answers[1].Refused() == r.Again.Refused() && i.made(ctx, markers[0]) == r.Rows {
		i.file.Draft = other.Draft
	}
	return asking.err
}
