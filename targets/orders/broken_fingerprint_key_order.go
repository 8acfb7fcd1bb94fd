package orders

// fingerprintKeyOrderDesign compares the bytes of bodies and promises to compare their values.
//
// A body has no one spelling. A client that writes its request anew for a retry, from a map without
// an order, sends the same values in other bytes. It is told to have changed its mind, and does not
// learn whether its order exists.
func fingerprintKeyOrderDesign() Design {
	return Design{
		Name:     "fingerprint-key-order",
		Summary:  "hashes the bytes of the body: a retry whose members come in another order is refused as another body",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict"},
		By:       []string{"respelled-body"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.fingerprint = ofBytes }),
	}
}

func ofBytes(req request) string { return hash(req.Body) }
