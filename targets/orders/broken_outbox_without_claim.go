package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// outboxWithoutClaimDesign is the outbox with relays that do not tell each other what they send.
//
// Entry and order are written together, so that nothing is lost. But two relays that run at once read the same entry before either
// has marked it, and the service that ships knows no keys: two parcels for one order.
func outboxWithoutClaimDesign() Design {
	return outboxDesign(Design{
		Name:    "outbox-without-claim",
		Summary: "an entry of the outbox with each order, and relays that read, send and then mark what waits: two at once send one entry twice",
		Twin:    "outbox-claimed",
		Shows:   []string{"effect-mismatch"},
		By:      []string{"burst-same-key", "double-click"},
		effects: []contract.Effect{within(oneParcel())},
	}, func(a *api) relayed {
		return relayed{api: a, send: func(ctx context.Context, _ string, o order) error { return a.outside.ship(ctx, o) }}
	})
}
