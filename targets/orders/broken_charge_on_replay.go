package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// chargeOnReplayDesign has the payment taken after the order was made, and after each replay: the step behind the answer does not
// know which of the two it was.
func chargeOnReplayDesign() Design {
	return Design{
		Name:     "charge-on-replay",
		Summary:  "has the payment taken behind every 201, and a replay is one: a repeat makes no second order, and is charged again",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "charge-key-derived",
		Shows:    []string{"effect-mismatch", "downstream-key-changed"},
		By:       []string{"sequential-replay", "burst-same-key", "withheld-answer"},
		effects:  []contract.Effect{oneCharge()},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			next := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				reply, err := next(ctx, req)
				if err != nil || reply.Status != 201 {
					return reply, err
				}
				if _, err := a.outside.charge(context.WithoutCancel(ctx), newID("charge_"), ordered(req)); err != nil {
					return paymentAway(), nil
				}
				return reply, nil
			})
		},
	}
}
