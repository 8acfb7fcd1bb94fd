package orders

import "github.com/doubletap-harness/doubletap/contract"

// scopeNoParentDesign remembers a key with its operation, but without what the path says about where.
//
// The route has a name, "orders of a shop", and the record of the key has that name. A client that numbers
// its keys for each shop orders in the second one, and is told of the order in the first.
func scopeNoParentDesign() Design {
	return Design{
		Name:     "scope-no-parent",
		Summary:  "remembers a key without the parent in the path: the key of an order in one shop, sent to another, is answered with the first",
		Contract: scopedByPath(loose(), contract.ScopeSeparate),
		Key:      requiredKey(),
		Twin:     "scope-by-path",
		Shows:    []string{"lost-acknowledged-write", "replay-mismatch"},
		By:       []string{"same-key-two-parents", "same-form-two-parents"},
		schema:   []string{ordersTable, keysTable},
		routes:   shops,
		describe: inShops,
		handler:  varied(func(_ *api, p *parts) { p.replay = replayAnyway }),
	}
}
