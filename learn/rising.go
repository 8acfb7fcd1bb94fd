package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// rises finds that a body with a lower number than the last one is acknowledged, and makes no row, though one with a higher number makes its own:
// such as messages that a device numbers, of which those that come late are dropped. Runs give each intent a name of its own, and do not show it.
func rises(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	lower, pointer, can := drafting.Lower(i.file)
	if !can {
		return nil
	}
	asking, err := i.questionerFor(lower)
	if err != nil {
		return err
	}
	answers, markers := asking.done(ctx, "lower", "[{send: {}}, {alter: {}}]")
	if len(answers) < 2 || !answers[0].Done() || !answers[1].Done() || ofItsOwn(ctx, i, r, i.made(ctx, markers[0]), markers) || late(ctx, i, markers[1:]) {
		return asking.err
	}
	i.file.Doubt("Whether a lower %s with the same %s is lost: it was acknowledged and made no row, where a higher one made its own. Requests that overtake each other would be lost so. Runs do not show it: each intent has another %s.", pointer, r.Natural[0], r.Natural[0])
	return asking.err
}
