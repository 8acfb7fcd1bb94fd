package orders

import (
	"context"
	"net/http"
)

// replayFreshAnswerDesign remembers which order a key made, and writes a new answer about it for a
// repeat.
//
// There is one order per key, and its id is right. But the answer is not the first one: the order is
// written again from the request, as if it were new, so that it bears the time of now, and the status
// says 200 and has no Location, because nothing was created this time. A client that compares, or
// that waits for a 201, sees two different truths about one order.
func replayFreshAnswerDesign() Design {
	return Design{
		Name:     "replay-fresh-answer",
		Summary:  "remembers the order's id, not the answer: a repeat gets 200 with a new created_at instead of the same 201",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"sequential-replay"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = replayFresh }),
	}
}

func replayFresh(_ context.Context, first record, req request) (answer, error) {
	if first.Fingerprint != req.Fingerprint {
		return keyReused(), nil
	}
	o := newOrder(req)
	o.ID = first.orderID()
	return jsonAnswer(http.StatusOK, o), nil
}
