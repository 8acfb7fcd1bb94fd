package orders

// keyCollationPadsDesign keeps keys in a column with a binary collation, which is not enough.
//
// "utf8mb4_bin" compares bytes, and before it does, it fills the shorter text up with spaces: so does SQL
// since char columns, and "key" equals "key " to the index. MariaDB has "utf8mb4_nopad_bin" for those
// who mean it. The key comes in the body, where a space at its end arrives.
func keyCollationPadsDesign() Design {
	return Design{
		Name:     "key-collation-pads",
		Summary:  "keys in a column whose binary collation pads with spaces: two keys that differ in a space are one, and the second order is refused",
		Contract: exactReplay(),
		Key:      requiredInBody(),
		Twin:     "key-in-body",
		Shows:    []string{"false-conflict"},
		By:       []string{"key-space"},
		On:       []string{"mariadb"},
		schema:   []string{ordersTable, keysTable + " collate utf8mb4_bin"},
		handler:  func(a *api) handler { return keyFromBody(needKey(newUniqueKey(a).create)) },
	}
}
