package orders

// keyInEitherPlaceDesign takes the key from the header or from the body, and remembers it without its place.
//
// What the request asks for is compared without the member that has the key: it is the same order, whichever place the client
// has for it.
func keyInEitherPlaceDesign() Design {
	return Design{
		Name:     "key-in-either-place",
		Summary:  "takes the key from the header or from the body: it is the same key, and the same order",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		ways:     keyInEitherPlace,
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.fingerprint = withoutKeyMember
			return keyFromEither(func(string) handler { return needKey(u.create) })
		},
	}
}
