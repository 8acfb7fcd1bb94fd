package orders

// keyCollationCaseDesign keeps keys in a column with the server's usual collation.
//
// Nobody folds anything: the code is that of unique-key. But the table was made without a word about
// its collation and got one for prose, by which "Key" and "kEY" are one word, to the index as to the
// select. A UUID survives that; base64 does not. The key's column needs a binary collation.
func keyCollationCaseDesign() Design {
	return Design{
		Name:     "key-collation-case",
		Summary:  "keys in a column whose collation knows no case: two keys that differ in case are one, and the second order is refused",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict"},
		By:       []string{"key-case"},
		On:       []string{"mariadb"},
		schema:   []string{ordersTable, keysTable + " collate utf8mb4_general_ci"},
		handler:  func(a *api) handler { return needKey(newUniqueKey(a).create) },
	}
}
