package orders

import "context"

// tries is how often a design asks a service outside before it gives up.
const tries = 3

// chargeRetriedSameKeyDesign asks for the payment again where it got no answer, within one request. All tries carry one key.
func chargeRetriedSameKeyDesign() Design {
	d := chargedDesign(Design{
		Name:    "charge-retried-same-key",
		Summary: "asks for the payment up to three times within one request, each time under the order's id",
		Correct: true,
	}, nil)
	d.handler = func(a *api) handler {
		return needKey(charged{a, func(_ request, orderID string) string { return orderID }, a.chargePatiently}.create)
	}
	return d
}

// chargePatiently asks for a payment until there is an answer.
func (a *api) chargePatiently(ctx context.Context, key string, o order) (taken charge, err error) {
	for range tries {
		if taken, err = a.outside.charge(ctx, key, o); err == nil {
			break
		}
	}
	return taken, err
}
