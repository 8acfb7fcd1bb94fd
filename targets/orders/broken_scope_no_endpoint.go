package orders

// scopeNoEndpointDesign remembers a key without the operation that it was sent to.
//
// A middleware in front of all endpoints knows the header, and not what the request is for. A client
// that asks for a quote and then, with the key of the same form, for the order, is answered with the
// quote. It reads a 201, and no order was made.
func scopeNoEndpointDesign() Design {
	return Design{
		Name:     "scope-no-endpoint",
		Summary:  "remembers a key without its operation: the key of a quote, sent to the orders, is answered with the quote",
		Contract: loose(),
		Key:      requiredKey(),
		Twin:     "replay-original",
		Shows:    []string{"lost-acknowledged-write", "replay-mismatch"},
		By:       []string{"same-key-two-operations"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.key = func(req request) string { return req.Customer + " " + req.RawKey }
			p.replay = replayAnyway
		}),
	}
}
