package orders

import "strings"

// keySpaceFoldedDesign takes its key from the body and tidies it up.
//
// In a header a space at the end does not arrive, so nobody can tell. In a body it does, and trimming
// makes one key of two; so does a column that pads its texts before it compares them, as char and
// most collations of MariaDB do.
func keySpaceFoldedDesign() Design {
	return Design{
		Name:     "key-space-folded",
		Summary:  "trims the key that comes in the body: two keys that differ in a space are one, and the second order is refused",
		Contract: exactReplay(),
		Key:      requiredInBody(),
		Twin:     "key-in-body",
		Shows:    []string{"false-conflict"},
		By:       []string{"key-space"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.key = func(req request) string { return req.withKey(strings.TrimSpace(req.RawKey)).Key }
			return keyFromBody(needKey(u.create))
		},
	}
}
