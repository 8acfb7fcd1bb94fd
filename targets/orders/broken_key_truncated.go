package orders

// keyTruncatedDesign cuts keys to what the column held once.
//
// UUIDs have 36 characters, and 64 seemed plenty. Then a client made its keys of what it knew: the
// shop's name, the cart, the customer, a number at the end. All that differs is cut off, and each
// order after the first is refused as another body with a used key. A key that is too long has to be
// refused, or hashed.
func keyTruncatedDesign() Design {
	return Design{
		Name:     "key-truncated",
		Summary:  "cuts keys to 64 characters: long keys that differ at the end are one key, and only the first order is made",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict"},
		By:       []string{"key-long"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.key = func(req request) string { return req.withKey(req.RawKey[:min(len(req.RawKey), 64)]).Key }
			return needKeyUpTo(longestCut, u.create)
		},
	}
}

// longestCut is the longest key that keyTruncated reads, in characters: more than anybody sends.
const longestCut = 4096
