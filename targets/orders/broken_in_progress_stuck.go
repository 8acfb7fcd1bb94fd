package orders

import (
	"context"
	"errors"
)

// inProgressStuck claims the key before the work, and gives it back with a context that is over.
//
// A failure gives the key back, and the test with a payment that is refused says so. But the commonest
// failure is a client that leaves: the context of its request ends, the work stops, and the statement
// that would give the key back is not even sent, because it has the same context. The claim has no
// lease, so no request may ever take it over. The client that comes back is told that its request is being
// executed, until an operator deletes the row.
type inProgressStuck struct{ *api }

func inProgressStuckDesign() Design {
	return Design{
		Name:     "in-progress-stuck",
		Summary:  "gives a claim back with the context of a request whose client has left: the key says 409 for ever, and there is no order",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"stuck-key"},
		By:       []string{"slow-road", "impatient-retry"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(inProgressStuck{a}.create) },
	}
}

func (s inProgressStuck) create(ctx context.Context, req request) (answer, error) {
	refusal, err := s.claim(ctx, req)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	reply, err := s.executeClaimed(ctx, req)
	if err != nil {
		return answer{}, errors.Join(err, s.db.releaseKey(ctx, req))
	}
	return reply, nil
}
