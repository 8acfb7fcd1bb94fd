package orders

// naturalKeyIndexedAsSentDesign looks for a reference in any case, and has its index on the reference as it was sent.
//
// First there was the index. Then customers wrote their references in capitals, and the look-up learned to ignore that. One
// after the other it is right: who comes later is told that the order exists. Of two at the same time, one in capitals and one
// not, both find nothing, and to the index they are two. The code is that of natural-key-any-case.
func naturalKeyIndexedAsSentDesign() Design {
	return Design{
		Name:     "natural-key-indexed-as-sent",
		Summary:  "looks for the reference in lower case, with a unique index on the reference as it was sent: in a race, one in capitals and one not make two orders",
		Contract: oncePerReferenceInAnyCase(),
		Twin:     "natural-key-any-case",
		Shows:    []string{"duplicate"},
		By:       []string{"natural-key-spelling"},
		schema:   []string{ordersTable, namedColumn, referenceIndex},
		handler:  func(a *api) handler { return needReference(naturalKeyAnyCase{a}.create) },
	}
}
