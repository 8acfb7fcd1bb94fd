package orders

// missingKeyAcceptedDesign documents the key as required and goes on without.
//
// The middleware that knows keys lets everything pass that has none, so as not to break old clients.
// A new client that forgets the key, or loses it in a proxy that drops headers it does not know, sees
// its orders created and learns from its first retry that they were never safe.
func missingKeyAcceptedDesign() Design {
	return Design{
		Name:     "missing-key-accepted",
		Summary:  "documents the key as required and executes requests without one: who forgot it is never told",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"missing-key-accepted"},
		By:       []string{"missing-key"},
		schema:   []string{ordersTable, keysTable},
		handler:  keyOrNot,
	}
}
