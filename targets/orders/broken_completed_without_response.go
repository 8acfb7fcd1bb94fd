package orders

import (
	"context"
	"net/http"
)

// completedWithoutResponse commits the order and that its key is done, and writes the answer later.
//
// Key and order are one transaction, so that there is never a second order. The answer is added when
// the order is confirmed, and a repeat that comes in between is told to come back. But a client that
// leaves in between ends the context with which the answer would be written. Such a record is done, so
// nothing is executed again, and has no answer, so nothing can be replayed: a repeat is told to come
// back for ever, and its order is delivered.
type completedWithoutResponse struct{ uniqueKey }

func completedWithoutResponseDesign() Design {
	return Design{
		Name:     "completed-without-response",
		Summary:  "commits order and key, and the answer later: if the client leaves in between, the key says 409 for ever, and the order is there",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"refused-though-done"},
		By:       []string{"slow-road"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.replay = replayIfWritten
			return needKey(completedWithoutResponse{u}.create)
		},
	}
}

func (c completedWithoutResponse) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	err := c.writeDetached(ctx, req, o, answer{Status: http.StatusCreated})
	if isDuplicate(err) {
		return c.repeat(ctx, req)
	}
	if err != nil {
		return answer{}, err
	}
	if err := c.work(ctx); err != nil {
		return answer{}, err
	}
	return reply, c.db.completeKey(ctx, req, reply)
}

func replayIfWritten(_ context.Context, first record, req request) (answer, error) {
	if first.Fingerprint == req.Fingerprint && len(first.Answer.Body) == 0 {
		return keyInUse(), nil
	}
	return first.replayTo(req), nil
}
