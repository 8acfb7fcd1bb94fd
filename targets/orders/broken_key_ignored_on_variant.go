package orders

import "context"

// keyIgnoredOnVariantDesign knows the key where orders are made, and not where quotes are.
//
// Both routes are documented alike, both check that a key is there, and the tests repeat an order.
// Quotes came later: their route was copied without the one call that looks the key up, and since a
// quote costs nothing, nobody looked again. A client that repeats a quote, as it was told it may,
// makes another one each time.
func keyIgnoredOnVariantDesign() Design {
	return Design{
		Name:     "key-ignored-on-variant",
		Summary:  "looks the key up for orders and not for quotes, which promise the same: a repeat makes a second quote",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"same-key-two-operations"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			keyed := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				if req.Kind == kindQuote {
					return a.createWithoutKey(ctx, req)
				}
				return keyed(ctx, req)
			})
		},
	}
}
