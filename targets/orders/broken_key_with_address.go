package orders

// keyWithAddressDesign keeps the keys of every address apart, to be safe from clients whose keys are alike.
//
// It is the customer who is known, and not the address. A phone that goes from one network to the next repeats its
// request with its key, and orders again.
func keyWithAddressDesign() Design {
	return Design{
		Name:     "key-with-address",
		Summary:  "remembers a key for each client address: a retry from another network creates a second order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"retry-elsewhere"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.key = func(req request) string { return req.Key + " " + req.Header.Get("X-Forwarded-For") }
		}),
	}
}
