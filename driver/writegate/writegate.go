// Package writegate blocks the writers of one table: it turns a database URL and a table's name into a lock that
// lets reads pass and makes writes wait. Requests that have read "nothing there yet" then wait to write, and all
// write together when the lock is released.
//
// Writers wait as long as the lock is held, or until their own timeouts: a target whose driver gives up
// earlier answers with an error of its own. On SQLite the writers of every table of the file wait, and
// a transaction that has read before it writes is refused at once, as SQLite always does while
// another connection writes.
package writegate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

const (
	patience    = time.Second      // for the lock itself
	reach       = 10 * time.Second // for the database to answer
	margin      = 5 * time.Second  // that a server waits longer than we do before it takes the lock back
	connections = 2                // one holds, one counts
)

// Gate blocks the writers of one table. Safe for concurrent use.
type Gate struct {
	db    *databases.Database
	lock  lock
	where string // the table and its database, for errors

	// A channel and not a mutex, so that waiting for it can end with a context.
	place  chan struct{}   // full while one holds, or takes, the lock
	opened context.Context // ends when the gate is closed
	close  func() error
}

// lock is what differs between the databases.
type lock interface {
	// take makes the connection hold the lock. A server that no longer hears from this process releases it a
	// margin after longest.
	take(ctx context.Context, conn *sql.Conn, longest time.Duration) error
	// give returns what ends the lock, and whether the connection is then as good as new.
	give() (statement string, reusable bool)
	// waiting counts the blocked writers. Known is false where the database cannot tell.
	waiting(ctx context.Context, db *sql.DB) (n int, known bool, err error)
}

// Open connects to the database at url and takes the lock on the table once, so that an unknown table or
// a missing privilege is known before anything is sent. The table is named as in a query of that
// database: orders, shop.orders, "Orders". Errors never hold the password.
//
// PostgreSQL wants the privilege to update, delete or truncate (MAINTAIN from version 17 on), MariaDB
// and MySQL SELECT and LOCK TABLES, SQLite a file that may be written.
func Open(ctx context.Context, databaseURL, table string) (*Gate, error) {
	db, err := databases.Open(ctx, databaseURL, databases.ReadWrite)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	g := &Gate{db: db, where: fmt.Sprintf("the writers of %s at %s", table, db.Host), place: make(chan struct{}, 1)}
	var end context.CancelFunc
	g.opened, end = context.WithCancel(context.Background())
	g.close = sync.OnceValue(func() error { return g.shut(end) })
	if err := g.prove(ctx, table); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// prove finds the table, takes the lock and gives it back.
func (g *Gate) prove(ctx context.Context, table string) error {
	var err error
	if g.lock, err = find(ctx, g.db, table); err != nil {
		return g.trouble(err)
	}
	held, err := g.Hold(ctx, reach)
	if err != nil {
		return err
	}
	return held.Release()
}

// find makes sure that the table is there, and returns how to lock it in its database.
func find(ctx context.Context, db *databases.Database, table string) (lock, error) {
	switch db.Dialect {
	case databases.PostgreSQL:
		return findPostgres(ctx, db.DB, table)
	case databases.MariaDB:
		return findMariaDB(table)
	case databases.SQLite:
		return findSQLite(ctx, db.DB, table)
	default:
		return nil, fmt.Errorf("a database of the kind %q has no write gate", db.Dialect)
	}
}

// trouble says in an error what the gate was about to do, and where.
func (g *Gate) trouble(err error) error {
	return fmt.Errorf("hold back %s: %w", g.where, err)
}

// Hold takes the lock. It fails when the lock cannot be had within a second: someone else holds it, or
// writes for that long. The lock gives itself back after longest, when the context ends and when the
// gate is closed, whichever comes first. While another Held has not been released, Hold waits.
func (g *Gate) Hold(ctx context.Context, longest time.Duration) (*Held, error) {
	if longest <= 0 {
		return nil, g.trouble(fmt.Errorf("for %v: expected a time above zero", longest))
	}
	if err := g.enter(ctx); err != nil {
		return nil, g.trouble(err)
	}
	conn, err := g.take(ctx, longest)
	if err != nil {
		<-g.place
		return nil, g.trouble(err)
	}
	return g.hold(ctx, conn, longest), nil
}

// enter waits until no other Held of this gate holds the lock.
func (g *Gate) enter(ctx context.Context) error {
	select {
	case g.place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the one who holds them: %w", ctx.Err())
	case <-g.opened.Done():
		return errClosed
	}
}

var errClosed = errors.New("the gate is closed")

// take returns a connection that holds the lock.
func (g *Gate) take(ctx context.Context, longest time.Duration) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	defer context.AfterFunc(g.opened, cancel)()
	conn, err := g.db.Conn(ctx)
	if err != nil {
		return nil, errors.New(databases.OneLine(err))
	}
	if err := g.lock.take(ctx, conn, longest); err != nil {
		discard(conn)
		return nil, fmt.Errorf("take the lock within %v: %w", patience, err)
	}
	return conn, nil
}

// hold makes sure that the lock on the connection is given back, once.
func (g *Gate) hold(ctx context.Context, conn *sql.Conn, longest time.Duration) *Held {
	ctx, end := context.WithTimeout(ctx, longest)
	forget := context.AfterFunc(g.opened, end)
	release := sync.OnceValue(func() error {
		defer func() { <-g.place }()
		defer end()
		defer forget()
		return g.give(conn)
	})
	context.AfterFunc(ctx, func() { _ = release() }) // Release tells the error
	return &Held{gate: g, release: release}
}

// give ends the lock. A connection that cannot be told so is cut, which ends it too.
func (g *Gate) give(conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	statement, reusable := g.lock.give()
	if _, err := conn.ExecContext(ctx, statement); err != nil {
		discard(conn)
		return fmt.Errorf("let go %s: %w", g.where, err)
	}
	if !reusable {
		discard(conn)
		return nil
	}
	return conn.Close()
}

// discard ends a connection, and with it whatever it holds, instead of giving it back to the pool. The
// pool closes a connection of which it is told that it is bad, and tells the same in return.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

// Close releases the lock, if it is held, and ends all connections. Closing again does nothing.
func (g *Gate) Close() error { return g.close() }

// shut ends what is held and what waits, and takes the place for good, so that no Hold can
// come in behind it. Only then are the connections closed.
func (g *Gate) shut(end context.CancelFunc) error {
	end()
	g.place <- struct{}{} // the lock is released, and cannot be taken any more
	return g.db.Close()
}

// Held is the lock on a table, as long as it is held. Safe for concurrent use.
type Held struct {
	gate    *Gate
	release func() error
}

// Waiting counts the writers that wait for the table now. Known is false where the database cannot tell,
// which is so on SQLite. A statement that would lock rows or the table before it reads,
// the guard of a pessimistic design, is no writer.
//
// MariaDB and MySQL show the sessions of other users only to one with the privilege PROCESS, and name no
// table: counted are the statements that wait for some table, are INSERT, UPDATE, REPLACE, DELETE or LOAD, and
// hold this table's name. One that comes to the table by a trigger or a view is missed.
func (h *Held) Waiting(ctx context.Context) (n int, known bool, err error) {
	n, known, err = h.gate.lock.waiting(ctx, h.gate.db.DB)
	if err != nil {
		return 0, false, fmt.Errorf("count %s: %w", h.gate.where, err)
	}
	return n, known, nil
}

// Release releases all writers, whether or not the context of Hold has ended. Releasing again does
// nothing and returns the same. An error means that the connection was lost: the server then took the
// lock back itself, perhaps earlier.
func (h *Held) Release() error { return h.release() }
