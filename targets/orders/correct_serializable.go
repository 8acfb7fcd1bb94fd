package orders

import "database/sql"

// serializableDesign has no unique index: its transactions are isolated as if one came after the other.
//
// Two that look for the same key and both write it cannot have come one after the other, so the database
// gives one of them up: PostgreSQL notices at the commit, MariaDB by a deadlock of their locks, and SQLite
// lets one write at a time. It begins again, and finds the key. This holds only if every transaction
// that touches the table asks for it, and tries again.
func serializableDesign() Design {
	return Design{
		Name:     "serializable",
		Summary:  "looks the key up and writes it in a serializable transaction, which begins again if the database gives it up",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(isolated{a, sql.LevelSerializable}.create) },
	}
}
