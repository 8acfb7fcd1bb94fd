package orders

// sagaStepWithoutKeyDesign is the saga whose second step was added later, and without a key.
//
// The payment is taken once, whatever happens. Two requests that come as far as the parcel both have one sent.
func sagaStepWithoutKeyDesign() Design {
	return sagaDesign(Design{
		Name:    "saga-step-without-key",
		Summary: "has the payment taken under the order's id, and then a parcel sent without a key: whoever comes again while the order is unfinished sends a second one",
		Twin:    "saga-steps-keyed",
		Shows:   []string{"effect-mismatch"},
		By:      []string{"burst-same-key", "effect-answer-lost-burst"},
	}, func(string) string { return "" })
}
