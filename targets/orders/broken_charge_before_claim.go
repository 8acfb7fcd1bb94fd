package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// chargeBeforeClaimDesign looks the key up, has the payment taken, and then writes key and order.
//
// A unique index decides who writes, so there is one row. But the money was taken before that, once for each request that found
// no key.
func chargeBeforeClaimDesign() Design {
	return Design{
		Name:     "charge-before-claim",
		Summary:  "looks the key up, has the payment taken, then writes key and order under a unique index: one row, and a charge for each request of a burst",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "charge-key-derived",
		Shows:    []string{"effect-mismatch", "downstream-key-changed", "effect-before-commit"},
		By:       []string{"burst-same-key", "double-click"},
		effects:  []contract.Effect{oneCharge()},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			next := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				if reply, err := a.db.known(ctx, req); err != nil || reply.Status != 0 {
					return reply, err
				}
				if _, err := a.outside.charge(ctx, newID("charge_"), ordered(req)); err != nil {
					return paymentAway(), nil
				}
				return next(ctx, req)
			})
		},
	}
}
