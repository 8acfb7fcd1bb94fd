package orders

// scopeNoTenantDesign remembers a key without the customer who sent it.
//
// The table of keys was there before the second customer was. Two customers whose clients count
// their keys, or take them from the clock, meet sooner or later: the second is told "created" and
// shown the first one's order, and has none. The key's row has to begin with the customer.
func scopeNoTenantDesign() Design {
	return Design{
		Name:     "scope-no-tenant",
		Summary:  "remembers a key without its customer: a customer who uses another's key is shown the other's order and gets none",
		Contract: loose(),
		Key:      requiredKey(),
		Twin:     "replay-original",
		Shows:    []string{"leak", "lost-acknowledged-write"},
		By:       []string{"same-form-two-principals", "same-key-two-principals"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.key = func(req request) string { return string(req.Kind) + " " + req.RawKey }
			p.replay = replayAnyway
		}),
	}
}
