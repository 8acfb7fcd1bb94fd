package orders

import (
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// dedupWindowDesign looks for duplicates among the records of the last 8s, and says so.
//
// It is dedup-window-too-short with a window that is promised, and kept: a retry within it gets the
// recorded answer, one after it makes another order.
func dedupWindowDesign() Design {
	const window = 8 * time.Second
	promise := exactReplay()
	promise.Expiry = contract.Expiry{After: contract.Duration(window), Then: contract.ExpiryExecute}
	return Design{
		Name:     "dedup-window",
		Summary:  "looks for duplicates among the records of the last 8s, as it promises",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable, keysHaveAge},
		handler:  varied(func(_ *api, p *parts) { p.write = writeFor(window) }),
	}
}
