package orders

// noFingerprintDesign is unique-key without a look at the body.
//
// Rows, waiting and replay are right. But the record remembers only which key was used, not for
// what: a client that uses a key again for another order, by a bug of its own, is told "created",
// gets the first order's answer and never learns that the second order does not exist. Some
// providers document this and may do it (replay-original); this one promises 422.
func noFingerprintDesign() Design {
	return Design{
		Name:     "no-fingerprint",
		Summary:  "compares only the key: another body with a used key gets the first order's answer instead of 422",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"altered-body-violation"},
		By:       []string{"altered-after", "altered-race"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = replayAnyway }),
	}
}
