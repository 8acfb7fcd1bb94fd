package orders

import (
	"context"
	"errors"
)

// keyReleasedOnAmbiguousError claims the key, and gives it back on every error.
//
// "What failed may be tried again" is true of what failed without a trace. Here the order is committed
// first and confirmed then, and whether the error came before the commit or after it, the key is given
// back, with a context that survives the client, so that it is never stuck. A client that leaves
// while its order is being confirmed and comes back orders once more.
type keyReleasedOnAmbiguousError struct{ *api }

func keyReleasedOnAmbiguousErrorDesign() Design {
	return Design{
		Name:     "key-released-on-ambiguous-error",
		Summary:  "gives the key back on every error, also on those after the order's commit: the retry makes a second order",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"duplicate"},
		By:       []string{"slow-road"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(keyReleasedOnAmbiguousError{a}.create) },
	}
}

func (k keyReleasedOnAmbiguousError) create(ctx context.Context, req request) (answer, error) {
	refusal, err := k.claim(ctx, req)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	reply, err := k.execute(ctx, req)
	if err != nil {
		return answer{}, errors.Join(err, k.db.releaseKey(context.WithoutCancel(ctx), req))
	}
	return reply, nil
}

func (k keyReleasedOnAmbiguousError) execute(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	detached := context.WithoutCancel(ctx)
	if err := k.db.retry(detached, func() error { return k.db.insertOrder(detached, o) }); err != nil {
		return answer{}, err
	}
	if err := k.work(ctx); err != nil {
		return answer{}, err
	}
	return reply, k.db.completeKey(ctx, req, reply)
}
