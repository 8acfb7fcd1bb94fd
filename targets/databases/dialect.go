package databases

import (
	"database/sql"
	"fmt"
)

// Dialect is the kind of a database.
type Dialect string

// The dialects. MySQL is spoken to as MariaDB is.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
	MariaDB    Dialect = "mariadb"
)

// Parameter is the n-th parameter of a statement, from 1.
func (d Dialect) Parameter(n int) string {
	if d == PostgreSQL {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

// Snapshot begins a transaction that is a read-only view of one moment. SQLite's every transaction is
// one, and its driver knows no options.
func (d Dialect) Snapshot() sql.TxOptions {
	if d == SQLite {
		return sql.TxOptions{}
	}
	return sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}
