package orders

// keyTruncatedDesign cuts keys to what the column held once.
//
// UUIDs have 36 characters, and 64 seemed plenty. Then a client made its keys of what it knew: the
// shop's name, the cart, the customer, a number at the end. All that differs is cut off, and each
// order after the first is refused as another body with a used key. Keys of more than 180 characters are
// refused, as every key has to be that the column does not hold, if it is not hashed.
func keyTruncatedDesign() Design {
	return Design{
		Name:     "key-truncated",
		Summary:  "cuts keys to 64 characters and refuses those of more than 180: keys that differ behind the 64th are one key, and only the first order is made",
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

// longestCut is the longest key that keyTruncated reads, in characters.
const longestCut = 180
