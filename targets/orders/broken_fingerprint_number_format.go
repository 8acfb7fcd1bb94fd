package orders

// fingerprintNumberFormatDesign sorts the members of a body and compares the rest as it is spelled.
//
// Sorting was the answer to clients whose members come in another order. But JSON has many spellings
// of a number, and not every library keeps the one it has read: 1200 goes in and 1200.0 or 1.2e3
// comes out. The retry that went through such a library is refused.
func fingerprintNumberFormatDesign() Design {
	return Design{
		Name:     "fingerprint-number-format",
		Summary:  "compares numbers as they are spelled: a retry that writes 1200 as 1200.0 is refused as another body",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict"},
		By:       []string{"respelled-numbers"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.fingerprint = ofSpelling }),
	}
}

func ofSpelling(req request) string {
	members, err := readObject(req.Body)
	if err != nil {
		panic(err) // it was read before
	}
	return fingerprintOf(members)
}
