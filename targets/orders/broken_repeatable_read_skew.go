package orders

import "database/sql"

// repeatableReadSkewDesign is serializable, with one word exchanged.
//
// "Repeatable read" was raised from the default after a first duplicate, and the tests were green. It
// keeps what a transaction has read from changing under it. What the transaction has not found, it will
// not find later either, whoever has inserted it: two of them see no key, write different rows, and
// PostgreSQL finds no conflict in that. It is called write skew, and only "serializable" knows it.
func repeatableReadSkewDesign() Design {
	return Design{
		Name:     "repeatable-read-skew",
		Summary:  "looks the key up and writes it in a repeatable read transaction: two that find nothing both commit",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "serializable",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-write-gate", "burst-same-key"},
		On:       []string{"postgres"},
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(isolated{a, sql.LevelRepeatableRead}.create) },
	}
}
