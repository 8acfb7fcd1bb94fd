package databases

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// ErrNoDriver says that the program links no driver for the kind of database that a URL names. The error that wraps
// it says which import to add.
var ErrNoDriver = errors.New("no database driver is linked")

// driverOf returns the name under which the driver of a dialect is registered in database/sql, and a package that
// registers it.
func driverOf(d Dialect) (name, imported string) {
	switch d {
	case SQLite:
		return "sqlite", "modernc.org/sqlite"
	case PostgreSQL:
		return "pgx", "github.com/jackc/pgx/v5/stdlib"
	default:
		return "mysql", "github.com/go-sql-driver/mysql"
	}
}

// linkedDriver returns the name of the dialect's driver. It fails with ErrNoDriver if none is registered: this
// package imports no driver, so that a program can link its own.
func linkedDriver(d Dialect) (string, error) {
	name, imported := driverOf(d)
	if !slices.Contains(sql.Drivers(), name) {
		return "", fmt.Errorf("%w for %s: add import _ %q, or another package that registers %q in database/sql", ErrNoDriver, d, imported, name)
	}
	return name, nil
}
