package orders

import (
	"context"
	"errors"
)

// hangUpTakenForCrash is at-least-once-after-crash with the context of the client.
//
// The contract allows one more order after a crash. But the request ends with its client: who leaves between the order
// and the record has the claim given back, as after a failure, and the retry makes another order. No process has died.
type hangUpTakenForCrash struct{ inProgress409 }

func hangUpTakenForCrashDesign() Design {
	return Design{
		Name:     "hang-up-taken-for-crash",
		Summary:  "may execute again after a crash, and does so after a client that leaves between the order and the record",
		Contract: againAfterCrash(),
		Key:      requiredKey(),
		Twin:     "at-least-once-after-crash",
		Shows:    []string{"duplicate"},
		By:       []string{"impatient-retry", "slow-road"},
		schema:   []string{ordersTable, leasedKeysTable},
		handler:  func(a *api) handler { return needKey(hangUpTakenForCrash{inProgress409{a, lease + a.effort}}.create) },
	}
}

func (h hangUpTakenForCrash) create(ctx context.Context, req request) (answer, error) {
	detached := context.WithoutCancel(ctx)
	token := newID("claim_")
	refusal, err := h.claim(detached, req, token)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	o := newOrder(req)
	reply := created(o)
	err = h.db.insertOrder(detached, o)
	if err == nil {
		err = h.work(ctx)
	}
	if err == nil {
		err = h.db.completeKey(ctx, req, reply)
	}
	if err != nil {
		return answer{}, errors.Join(err, h.release(detached, req, token))
	}
	return reply, nil
}
