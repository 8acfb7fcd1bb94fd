package orders

// deliveryIDBlankSharedDesign takes what the event has for an id, whatever it is.
//
// A sender that leaves the id out, or sends an empty text, as an older version or a test button does, gets one id with all others
// of its kind. The first of these events is done. Every other one is taken for its repetition: it is acknowledged, and lost.
func deliveryIDBlankSharedDesign() Design {
	return Design{
		Name:     "delivery-id-blank-shared",
		Summary:  "knows events by the id in their body, also by a blank one: of all events without an id only the first is done",
		Contract: deliveries(),
		Key:      optionalInBody(),
		Twin:     "delivery-id",
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"key-blank", "no-key"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return keyFromBody(received(a)) },
	}
}
