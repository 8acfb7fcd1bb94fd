package orders

import (
	"context"
	"net/http"
)

// dependencyErrorCached has the payment taken before it makes the order, and records whatever comes of it.
//
// Nothing is made that is not paid for, and the other service knows what it was asked by our key, so that asking
// again does no harm. Nobody asks again: that the payment failed is an answer for the record like any other, while
// it only says that the service could not be reached, or that its own answer was lost. It is back after a moment,
// has perhaps taken the money, and the key answers 502 for ever.
type dependencyErrorCached struct{ uniqueKey }

func dependencyErrorCachedDesign() Design {
	promise := exactReplay()
	promise.Errors.Store5xx = new(false)
	return Design{
		Name:       "dependency-error-cached",
		Summary:    "records that the payment failed, also when its service was only away: every repeat of the key gets that 502",
		Contract:   promise,
		Key:        requiredKey(),
		Twin:       "dependency-resumes",
		Shows:      []string{"stored-error"},
		By:         []string{"dependency-cut"},
		Dependency: true,
		schema:     []string{ordersTable, keysTable},
		handler:    func(a *api) handler { return needKey(dependencyErrorCached{newUniqueKey(a)}.create) },
	}
}

func (d dependencyErrorCached) create(ctx context.Context, req request) (answer, error) {
	known, err := d.db.known(ctx, req)
	if err != nil || known.Status != 0 {
		return known, err
	}
	detached := context.WithoutCancel(ctx)
	if _, err := d.dependency.charge(detached, req.Key); err == nil {
		return d.uniqueKey.create(ctx, req)
	}
	reply := problem(http.StatusBadGateway, "payment_failed", "the payment was not taken")
	err = d.db.retry(detached, func() error { return d.db.insertKey(detached, req, reply) })
	if isDuplicate(err) {
		return d.repeat(ctx, req)
	}
	return reply, err
}
