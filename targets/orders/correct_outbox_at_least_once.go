package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// outboxAtLeastOnceDesign is the outbox whose relays tell each other nothing, beside a service that knows its keys.
//
// Two relays may send one entry, and one of them twice. Each time it has the key of the entry, and the service takes one payment.
func outboxAtLeastOnceDesign() Design {
	return outboxDesign(Design{
		Name:    "outbox-at-least-once",
		Summary: "order, key and an entry of the outbox in one transaction; relays that send what waits, several times if need be, always under the entry's id, by which the service knows it",
		Correct: true,
		effects: []contract.Effect{within(oneCharge())},
	}, func(a *api) relayed {
		return relayed{api: a, first: true, send: func(ctx context.Context, id string, o order) error {
			_, err := a.outside.charge(ctx, id, o)
			return err
		}}
	})
}
