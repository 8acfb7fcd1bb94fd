package orders

import "github.com/doubletap-harness/doubletap/contract"

// scopeByPathDesign keeps the keys of every path apart: a key in another shop is another key.
func scopeByPathDesign() Design {
	return Design{
		Name:     "scope-by-path",
		Summary:  "a key belongs to the path that it was sent to: the same key in another shop is a new order",
		Correct:  true,
		Contract: scopedByPath(exactReplay(), contract.ScopeSeparate),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		routes:   shops,
		describe: inShops,
		handler: varied(func(_ *api, p *parts) {
			p.key = func(req request) string { return req.Customer + " " + req.Path + " " + req.RawKey }
		}),
	}
}
