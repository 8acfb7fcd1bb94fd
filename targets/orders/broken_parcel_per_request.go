package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// parcelPerRequestDesign tells the service that ships of every request that comes in, before it looks at its key.
func parcelPerRequestDesign() Design {
	return Design{
		Name:     "parcel-per-request",
		Summary:  "calls the service that ships for every request that comes in, before it looks at the key",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "outbox-claimed",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"sequential-replay", "burst-same-key", "withheld-answer"},
		effects:  []contract.Effect{oneParcel()},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			next := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				if err := a.outside.ship(ctx, ordered(req)); err != nil {
					return paymentAway(), nil
				}
				return next(ctx, req)
			})
		},
	}
}
