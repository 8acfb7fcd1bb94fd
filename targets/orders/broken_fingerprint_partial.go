package orders

// fingerprintPartialDesign compares what the first version of an order consisted of.
//
// The list of members that make the fingerprint was complete once. The amount came later, and nobody
// thought of the list. A key that comes with another amount is a repeat since then: its client is
// told "created" and gets the order with the first amount.
func fingerprintPartialDesign() Design {
	return Design{
		Name:     "fingerprint-partial",
		Summary:  "leaves the amount out of the comparison: a used key with another amount gets the first order's answer instead of 422",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"altered-body-violation"},
		By:       []string{"altered-after", "altered-race"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.fingerprint = func(req request) string { return fingerprintOf([]string{req.Order.Item, req.Order.Reference}) }
		}),
	}
}
