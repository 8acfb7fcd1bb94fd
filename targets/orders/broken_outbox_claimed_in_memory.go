package orders

import (
	"context"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// shippingPause is how long a relay gathers entries before it sends them.
const shippingPause = 50 * time.Millisecond

// outboxClaimedInMemoryDesign is the outbox whose relays claim entries in a map of their process.
//
// The relays of one process never send an entry twice. Those of another process have a map of their own.
func outboxClaimedInMemoryDesign() Design {
	claims := new(sync.Map)
	return outboxDesign(Design{
		Name:      "outbox-claimed-in-memory",
		Summary:   "an entry of the outbox with each order, and relays that claim what waits in a map of their process: of two instances that have a request of it each sends it",
		Twin:      "outbox-claimed",
		Shows:     []string{"effect-mismatch"},
		By:        []string{"burst-same-key", "tabs-one-key"},
		Instances: 2,
		effects:   []contract.Effect{within(oneParcel())},
	}, func(a *api) relayed {
		return relayed{api: a, claims: claims, send: func(ctx context.Context, _ string, o order) error {
			time.Sleep(shippingPause)
			return a.outside.ship(ctx, o)
		}}
	})
}
