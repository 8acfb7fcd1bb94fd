package orders

// refusalStoredDesign is refusal-kept, and promises that a refusal leaves the key free.
//
// Whoever wrote it recorded every answer that is not a server error. The page keeps its key while its user corrects the
// amount, and the corrected order is refused as another body, for good.
func refusalStoredDesign() Design {
	return Design{
		Name:     "refusal-stored",
		Summary:  "promises that a refusal leaves the key free, and records the 400 to an amount below 1 under it: the corrected order is refused for good",
		Contract: storing4xx(false),
		Key:      requiredKey(),
		Twin:     "refusal-forgotten",
		Shows:    []string{"stored-error"},
		By:       []string{"corrected-after-refusal"},
		schema:   []string{ordersTable, keysTable},
		read:     readAnyRequest,
		handler:  varied(func(_ *api, p *parts) { keepRefusals(p) }),
	}
}
