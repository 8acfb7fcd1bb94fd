package orders

import (
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// expiryTooShortDesign forgets a key before the time for which it promises to remember it.
//
// The documentation says one second. The setting, which somebody lowered when the table grew, says
// 200ms. A client that waits a little before it tries again, as it should, makes a second order.
func expiryTooShortDesign() Design {
	promise := exactReplay()
	promise.Expiry = contract.Expiry{After: contract.Duration(time.Second), Then: contract.ExpiryExecute}
	return Design{
		Name:     "expiry-too-short",
		Summary:  "promises to remember a key for 1s and forgets it after 200ms: a retry in between makes a second order",
		Contract: promise,
		Key:      requiredKey(),
		Twin:     "key-expires",
		Shows:    []string{"duplicate"},
		By:       []string{"key-expired"},
		schema:   []string{ordersTable, keysTable, keysHaveAge},
		handler:  varied(func(_ *api, p *parts) { p.write = writeFor(200 * time.Millisecond) }),
	}
}
