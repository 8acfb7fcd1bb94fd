package orders

// contentDedupBlocksLegitDesign takes an equal body for a repetition and says so nowhere.
//
// It is contentWindow, word by word, built because of a client that forgot its keys. But the API
// promises that a key makes an order. A customer who orders a second lamp a moment after the first,
// with a new key and the same form, is told that the order exists, and waits for two lamps.
func contentDedupBlocksLegitDesign() Design {
	return Design{
		Name:     "content-dedup-blocks-legit",
		Summary:  "takes an equal body for a repetition whatever its key: a second order for the same is refused for 30s",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict"},
		By:       []string{"distinct-twins"},
		schema:   []string{ordersTable, keysTable, contentsTable},
		handler:  withinWindow,
	}
}
