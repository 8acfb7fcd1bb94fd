package orders

// chargeByIDNewKeyDesign names the order by its id, and draws the key of the payment anew each time.
//
// Both charges name the same order, so that an accountant finds them. The service for payments does not look there.
func chargeByIDNewKeyDesign() Design {
	return billedDesign(Design{
		Name:    "charge-by-id-new-key",
		Summary: "has the payment taken for the order's id, under a new key for each request that finds the order unpaid: two charges for one order",
		Twin:    "charge-by-id",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"burst-same-key", "effect-answer-lost"},
	}, func(request, string) string { return newID("charge_") })
}
