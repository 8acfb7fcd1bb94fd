package orders

// mismatchCreatesRowDesign remembers key and body together.
//
// It was meant to keep clients from getting the answer to another body, and it does. But a key with
// another body is not found then, so it is a new one, and a second order is made. The key was the
// only thing that could have told that the user wanted one order and corrected its amount.
func mismatchCreatesRowDesign() Design {
	return Design{
		Name:     "mismatch-creates-row",
		Summary:  "remembers key and body together: a used key with another body is a new one, and makes a second order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate", "altered-body-violation"},
		By:       []string{"altered-after", "altered-race"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.key = func(req request) string { return req.Key + " " + req.Fingerprint }
		}),
	}
}
