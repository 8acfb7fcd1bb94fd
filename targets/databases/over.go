package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Over returns a database that the caller has opened, with any driver. It asks the database of what kind it is. It
// changes no settings: what may be written stays as it is.
func Over(ctx context.Context, db *sql.DB) (*Database, error) {
	dialect, err := DialectOver(ctx, db)
	if err != nil {
		return nil, err
	}
	return &Database{DB: db, Dialect: dialect, Host: "the database that was given"}, nil
}

// DialectOver finds out the kind of a database by a function that only SQLite has, or else by its version.
// MySQL and MariaDB begin theirs with a digit.
func DialectOver(ctx context.Context, db *sql.DB) (Dialect, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		return "", fmt.Errorf("reach the database that was given: %s", OneLine(err))
	}
	var version string
	if db.QueryRowContext(ctx, "select sqlite_version()").Scan(&version) == nil {
		return SQLite, nil
	}
	if err := db.QueryRowContext(ctx, "select version()").Scan(&version); err != nil {
		return "", errors.New("the database that was given is none of SQLite, PostgreSQL, MySQL and MariaDB: it does not say its version")
	}
	switch {
	case strings.HasPrefix(version, "PostgreSQL"):
		return PostgreSQL, nil
	case version != "" && version[0] >= '0' && version[0] <= '9': // 8.0.36, 10.11.6-MariaDB
		return MariaDB, nil
	}
	return "", fmt.Errorf("the database that was given is %q, expected SQLite, PostgreSQL, MySQL or MariaDB", version)
}
