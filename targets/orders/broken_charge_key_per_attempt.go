package orders

// chargeKeyPerAttemptDesign asks for the payment with a new key whenever a request comes so far.
//
// The order is made once, and its completion is guarded: its row is right in every burst. But two requests that find the order
// unpaid both ask, with different keys, and the customer pays twice.
func chargeKeyPerAttemptDesign() Design {
	return chargedDesign(Design{
		Name:    "charge-key-per-attempt",
		Summary: "has the payment taken under a new key for each request that finds the order unpaid: one row, two charges",
		Twin:    "charge-key-derived",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"burst-same-key", "double-click"},
	}, func(request, string) string { return newID("charge_") })
}
