package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// chargeRefusedBodyDesign has the payment taken for the request as it came, and compares it with what the key stands for when
// it writes: a body that is refused was paid for.
func chargeRefusedBodyDesign() Design {
	return Design{
		Name:     "charge-refused-body",
		Summary:  "has the payment taken under a key of the request before it compares the body: another body under the key is refused, and charged",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "charge-key-derived",
		Shows:    []string{"effect-before-commit"},
		By:       []string{"altered-after", "altered-race"},
		effects:  []contract.Effect{oneCharge()},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			next := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				if _, err := a.outside.charge(ctx, req.Key+req.Fingerprint, ordered(req)); err != nil {
					return paymentAway(), nil
				}
				return next(ctx, req)
			})
		},
	}
}
