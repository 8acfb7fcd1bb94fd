package orders

import "context"

// chargeRetriedNewKeyDesign draws a key for each request to the service, as a client library does that is left to itself.
//
// The key is made where the request is built, and the loop builds a new one for each try. To the service these are different
// payments: where the first was taken and only its answer was lost, the second is taken, too.
func chargeRetriedNewKeyDesign() Design {
	d := chargedDesign(Design{
		Name:    "charge-retried-new-key",
		Summary: "asks for the payment up to three times within one request, each time with a new key: a lost answer is charged twice",
		Twin:    "charge-retried-same-key",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"effect-answer-lost", "effect-answer-lost-burst", "effect-error"},
	}, nil)
	d.handler = func(a *api) handler {
		pay := func(ctx context.Context, _ string, o order) (taken charge, err error) {
			for range tries {
				if taken, err = a.outside.charge(ctx, newID("try_"), o); err == nil {
					break
				}
			}
			return taken, err
		}
		return needKey(charged{a, func(request, string) string { return "" }, pay}.create)
	}
	return d
}
