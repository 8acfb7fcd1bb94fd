package orders

import (
	"context"
	"errors"
	"time"
)

// inProgressLeaseTooShort claims the key for a time in which the work is not done.
//
// A claim with a lease is right: the holder of a key may die, and the next request must be able to take it
// over. 5ms were more than enough when a handler did nothing but write. Since then the payment is
// authorised somewhere else, which takes longer, and a retry that comes in between takes a claim over
// whose holder lives. Both finish, because who completes a record is not asked whether it still holds
// the claim.
type inProgressLeaseTooShort struct{ inProgress409 }

// shortLease is less than the work takes.
const shortLease = 5 * time.Millisecond

func inProgressLeaseTooShortDesign() Design {
	return Design{
		Name:     "in-progress-lease-too-short",
		Summary:  "claims the key for less time than the work takes, and fences nobody off: a retry executes beside the first request",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"duplicate"},
		By:       []string{"sweep"},
		schema:   []string{ordersTable, leasedKeysTable},
		handler: func(a *api) handler {
			return needKey(inProgressLeaseTooShort{inProgress409{a, shortLease}}.create)
		},
	}
}

func (l inProgressLeaseTooShort) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	token := newID("claim_")
	refusal, err := l.claim(ctx, req, token)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	reply, err := l.executeClaimed(ctx, req)
	if err != nil {
		return answer{}, errors.Join(err, l.release(ctx, req, token))
	}
	return reply, nil
}
