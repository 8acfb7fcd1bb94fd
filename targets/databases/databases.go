// Package databases opens what a target's database URL names: it turns a URL into a driver, its data source name and
// a dialect. It is the one place that knows how the URLs of a target file are read. It imports no driver: the program
// does.
//
// The parts: databases.go opens a database, by driver.go and dialect.go; url.go and postgres.go read URLs, the latter as
// PostgreSQL's drivers do, with all that their environment adds. over.go takes one that the caller has opened.
// catalogue.go, dictionary.go and search.go find tables, keys and a text in them, for init; shown.go finds how an
// answer writes a key.
package databases

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/internal/files"
)

// reachTimeout bounds how long a database may take for its first answer.
const reachTimeout = 10 * time.Second

// Mode says what a connection may do.
type Mode int

// ReadOnly opens an SQLite file such that nothing can be written. A server's connections are the same
// in both modes: there a transaction says that it only reads. Neither mode makes a file that is missing.
const (
	ReadOnly Mode = iota
	ReadWrite
)

// Database is a database that has answered. Safe for concurrent use.
type Database struct {
	*sql.DB
	Dialect Dialect
	Host    string // host and port, or the path of the file
}

// Open connects to the database at url and checks that it answers. Errors never hold the password; ErrNoDriver says
// that the program links no driver for it.
func Open(ctx context.Context, databaseURL string, mode Mode) (*Database, error) {
	s, err := parse(databaseURL, mode)
	if err != nil {
		return nil, err
	}
	driver, err := linkedDriver(s.dialect)
	if err != nil {
		return nil, err
	}
	if s.dialect == SQLite {
		if err := files.Check(s.host); err != nil { // the driver would wait for a named pipe
			return nil, fmt.Errorf("open database: %w", err)
		}
	}
	db, err := sql.Open(driver, s.name)
	if err != nil {
		return nil, fmt.Errorf("open database at %s: %w", s.host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("reach database at %s: %s", s.host, OneLine(err))
	}
	return &Database{DB: db, Dialect: s.dialect, Host: s.host}, nil
}

// OneLine writes an error on one line: PostgreSQL's driver takes one for each address that it tried.
func OneLine(err error) string {
	var parts []string
	for _, line := range strings.Split(err.Error(), "\n") {
		if part := strings.TrimSpace(line); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}
