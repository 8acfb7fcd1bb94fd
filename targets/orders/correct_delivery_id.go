package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// deliveryIDDesign receives events: what has come under an id is not done again. A sender need not give an id, and an event
// without one, or with a blank one, is an event of its own each time that it comes.
func deliveryIDDesign() Design {
	return Design{
		Name:     "delivery-id",
		Summary:  "knows events by the id in their body; events without an id, or with a blank one, are events of their own",
		Correct:  true,
		Contract: deliveries(),
		Key:      optionalInBody(),
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			known := received(a)
			return keyFromBody(func(ctx context.Context, req request) (answer, error) {
				if req.RawKey == "" {
					return a.createWithoutKey(ctx, req)
				}
				return known(ctx, req)
			})
		},
	}
}

// deliveries is the promise of a receiver of events: the first answer comes again, whatever else the event says.
func deliveries() contract.Contract {
	promise := loose()
	promise.MissingKey = contract.Signature{}
	return promise
}

func optionalInBody() targets.Key {
	key := requiredInBody()
	key.Required = false
	return key
}

// received is uniqueKey that compares only the id.
func received(a *api) handler {
	u := newUniqueKey(a)
	u.replay = replayAnyway
	return u.create
}
