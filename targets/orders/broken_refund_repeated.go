package orders

// refundRepeatedDesign draws the key of a refund when it asks for it.
//
// The step forward is guarded, and the step back is not: two requests that find the shelf empty both give the payment back. The books
// of the shop show one order that was declined.
func refundRepeatedDesign() Design {
	return refundedDesign(Design{
		Name:    "refund-repeated",
		Summary: "has the payment taken under the order's id and, where the shelf is empty, given back under a new key: each request that finds it empty gives it back",
		Twin:    "refund-once",
		Shows:   []string{"effect-mismatch"},
		By:      []string{"burst-same-key", "effect-answer-lost-burst"},
	}, func(string) string { return newID("refund_") })
}
