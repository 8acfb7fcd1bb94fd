package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// outboxKeyPerSendDesign is the outbox whose client for payments draws the key where it builds the request.
//
// The relay claims an entry and sends until there is an answer, as it must. A payment whose answer was lost is another one the next time.
func outboxKeyPerSendDesign() Design {
	return outboxDesign(Design{
		Name:    "outbox-key-per-send",
		Summary: "an outbox whose relay asks for the payment until there is an answer, each time under a new key: one whose answer was lost is taken twice",
		Twin:    "outbox-at-least-once",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"effect-answer-lost", "effect-error"},
		effects: []contract.Effect{within(oneCharge())},
	}, func(a *api) relayed {
		return relayed{api: a, claim: true, first: true, send: func(ctx context.Context, _ string, o order) error {
			_, err := a.outside.charge(ctx, newID("send_"), o)
			return err
		}}
	})
}
