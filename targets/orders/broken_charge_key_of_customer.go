package orders

// chargeKeyOfCustomerDesign asks for the payment with a key that all orders of a customer for one item share.
//
// It was meant to keep a customer from paying twice for one click. The service takes the second order's payment for a repetition
// of the first one's, and gives the old answer: the second order is not paid for.
func chargeKeyOfCustomerDesign() Design {
	return chargedDesign(Design{
		Name:    "charge-key-of-customer",
		Summary: "has payments taken under a key of customer and item: the second order of a customer is never charged",
		Twin:    "charge-key-of-request",
		Shows:   []string{"effect-mismatch"},
		By:      []string{"plain-create", "sequential-replay"},
	}, func(req request, _ string) string { return req.Customer + "-" + req.Order.Item })
}
