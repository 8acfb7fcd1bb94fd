package orders

import (
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// expiryEndsEarlyDesign forgets a key when half of the time is over for which it promises to remember it.
//
// A second job removes old keys, and it has a limit of its own. All retries that follow within seconds get the first answer. The client
// that was out of reach for a while, and keeps to the documentation, makes a second order.
func expiryEndsEarlyDesign() Design {
	promise := exactReplay()
	promise.Expiry = contract.Expiry{After: contract.Duration(12 * time.Second), Then: contract.ExpiryExecute}
	return Design{
		Name:     "expiry-ends-early",
		Summary:  "promises to remember a key for 12s and forgets it after 6.5s: a retry shortly before the end makes a second order",
		Contract: promise,
		Key:      requiredKey(),
		Twin:     "key-expires",
		Shows:    []string{"duplicate"},
		By:       []string{"key-expired"},
		schema:   []string{ordersTable, keysTable, keysHaveAge},
		handler:  varied(func(_ *api, p *parts) { p.write = writeFor(6500 * time.Millisecond) }),
	}
}
