package orders

import "context"

// keyByPlaceDesign remembers keys of headers and keys of bodies apart.
//
// The body's key is older, and the code of the endpoint looks it up. The header came with a middleware, which has a
// table of its own. Each is right. A client whose library was updated between two attempts sends the key in the
// other place, and has two orders.
func keyByPlaceDesign() Design {
	return Design{
		Name:     "key-by-place",
		Summary:  "remembers keys of headers and keys of bodies apart: the same order under the same key, sent by each way, is two",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "key-in-either-place",
		Shows:    []string{"duplicate"},
		By:       []string{"same-key-two-ways", "same-key-two-ways-at-once"},
		ways:     keyInEitherPlace,
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.fingerprint = withoutKeyMember
			return keyFromEither(func(place string) handler {
				return needKey(func(ctx context.Context, req request) (answer, error) {
					req.Key = place + " " + req.Key
					return u.create(ctx, req)
				})
			})
		},
	}
}
