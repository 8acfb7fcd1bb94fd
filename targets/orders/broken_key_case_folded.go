package orders

import "strings"

// keyCaseFoldedDesign takes upper and lower case for the same.
//
// Mostly nobody writes strings.ToLower: the column has the database's usual collation, which compares
// texts as people do ("citext", "utf8mb4_general_ci", "nocase"). For a UUID this is even right. For a
// key with letters of all kinds, base64 for one, it makes one key of two.
func keyCaseFoldedDesign() Design {
	return Design{
		Name:     "key-case-folded",
		Summary:  "compares keys without regard to case: two keys that differ in case are one, and the second order is refused",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict"},
		By:       []string{"key-case"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.key = func(req request) string { return req.withKey(strings.ToLower(req.RawKey)).Key }
		}),
	}
}
