// Package snapshots takes snapshots: it turns the queries of a target's operations and
// lists of markers into what the database held for each at one moment, or, where there is
// no database to ask, into what the target itself says there is. It only reads.
//
// A [Reader] asks a database, and a [Listing] the target's own API. Both hold to one rule:
// what could not be read is an error of the whole snapshot, and never an empty list. "No
// row" is evidence of a lost write, and must not come of a timeout.
package snapshots

import (
	"context"
	"database/sql"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Reader asks one database. Safe for concurrent use.
type Reader struct {
	// Patience is how long a statement of a snapshot may take, which asks for some of the markers. 0: one minute. It is set
	// before the first snapshot.
	Patience time.Duration

	db       *databases.Database
	borrowed bool // the caller closes the database
}

// connections bounds what the harness takes of the database's connections.
const connections = 4

// Open connects to the database at url and checks that it answers. Errors never hold the password.
func Open(ctx context.Context, databaseURL string) (*Reader, error) {
	db, err := databases.Open(ctx, databaseURL, databases.ReadOnly)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &Reader{db: db}, nil
}

// Over returns a reader of a database that the caller has opened, and closes. Whether it may write is
// theirs, too, but for the transactions of snapshots on PostgreSQL and MariaDB, which only read.
func Over(ctx context.Context, db *sql.DB) (*Reader, error) {
	given, err := databases.Over(ctx, db)
	if err != nil {
		return nil, err
	}
	return &Reader{db: given, borrowed: true}, nil
}

// Host returns the host and port of the database, or the path of its file.
func (r *Reader) Host() string { return r.db.Host }

// Close ends all connections that the reader has opened.
func (r *Reader) Close() error {
	if r.borrowed {
		return nil
	}
	return r.db.Close()
}

// Rows returns the number of rows that a question's query finds for one marker, in no
// transaction. It is what scenarios ask while requests are under way.
func (r *Reader) Rows(ctx context.Context, q Question, marker string) (int, error) {
	found, err := r.rows(ctx, r.db, q.Rows, []string{marker}, nil)
	return len(found[marker]), err
}

// Alive reports whether the database still answers.
func (r *Reader) Alive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return r.db.PingContext(ctx) == nil
}
