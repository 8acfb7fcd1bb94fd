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
	return forgetsEarly(Design{
		Name:    "expiry-too-short",
		Summary: "promises to remember a key for 1s and forgets it after 200ms: a retry in between makes a second order",
	}, time.Second, 200*time.Millisecond)
}

// forgetsEarly is a design that promises to remember a key for longer than it does.
func forgetsEarly(d Design, promised, limit time.Duration) Design {
	d.Contract = exactReplay()
	d.Contract.Expiry = contract.Expiry{After: contract.Duration(promised), Then: contract.ExpiryExecute}
	d.Key, d.Twin, d.Shows, d.By = requiredKey(), "key-expires", []string{"duplicate"}, []string{"key-expired"}
	d.schema = []string{ordersTable, keysTable, keysHaveAge}
	d.handler = varied(func(_ *api, p *parts) { p.write = writeFor(limit) })
	return d
}
