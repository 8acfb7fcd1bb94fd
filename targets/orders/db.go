package orders

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// dialect is the SQL that a database speaks.
type dialect string

// The dialects.
const (
	dialectSQLite   dialect = "sqlite"
	dialectPostgres dialect = "postgres"
	dialectMariaDB  dialect = "mariadb"
)

// transactionTries is how often a transaction is tried that the database gave up.
const transactionTries = 20

// queries runs SQL that is written with "?" for its arguments, on any of the databases.
type queries struct {
	on interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
	dialect dialect
}

// db is the database of one API. It is safe for concurrent use.
type db struct {
	queries
	pool, readers *sql.DB
}

// tx is one transaction. A handler that holds one must not write through db: SQLite has one writer.
type tx struct{ queries }

// newDB makes a database of which single questions are asked on readers, and everything else on pool.
func newDB(pool, readers *sql.DB, speaks dialect) *db {
	return &db{queries: queries{on: split{DB: pool, readers: readers}, dialect: speaks}, pool: pool, readers: readers}
}

// close ends the pools. What their connections say to it is of no use: one that a link cut before cannot say goodbye, and
// everything that was asked of the database has been answered.
func (d *db) close() {
	_ = d.pool.Close()
	_ = d.readers.Close()
}

// split is a pool whose questions go to another.
type split struct {
	*sql.DB
	readers *sql.DB
}

func (s split) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return s.readers.QueryRowContext(ctx, query, args...)
}

func (q queries) exec(ctx context.Context, query string, args ...any) error {
	_, err := q.on.ExecContext(ctx, q.rebind(query), args...)
	return err
}

// update is exec for statements of which it matters how many rows they matched.
func (q queries) update(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := q.on.ExecContext(ctx, q.rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (q queries) queryRow(ctx context.Context, query string, args ...any) row {
	return func() *sql.Row { return q.on.QueryRowContext(ctx, q.rebind(query), args...) }
}

// row asks for one row.
type row func() *sql.Row

// Scan reads the row. Clients that leave together break so many connections of the pool that the pool
// may give up finding one that works; the question was not asked then.
func (r row) Scan(into ...any) error {
	for try := 1; ; try++ {
		err := r().Scan(into...)
		if !errors.Is(err, driver.ErrBadConn) || try == transactionTries {
			return err
		}
	}
}

// rebind writes the placeholders as the database wants them.
func (q queries) rebind(query string) string {
	if q.dialect != dialectPostgres {
		return query
	}
	var out strings.Builder
	for i, part := range strings.Split(query, "?") {
		if i > 0 {
			out.WriteString("$" + strconv.Itoa(i))
		}
		out.WriteString(part)
	}
	return out.String()
}

// transaction commits what body does, or nothing of it. It tries once.
func (d *db) transaction(ctx context.Context, body func(tx *tx) error) error {
	return d.transactionAt(ctx, sql.LevelDefault, body)
}

// transactionAt is transaction with another isolation than the database's usual one.
func (d *db) transactionAt(ctx context.Context, level sql.IsolationLevel, body func(tx *tx) error) error {
	t, err := d.pool.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = t.Rollback() }() // after a commit it does nothing
	if err := body(&tx{queries{on: t, dialect: d.dialect}}); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// retry repeats body from its start while the database gives it up as the victim of a deadlock or of
// too much traffic. In all these cases nothing of the transaction remains.
func (d *db) retry(ctx context.Context, body func() error) error {
	for try := 1; ; try++ {
		err := body()
		if !isTransient(err) || try == transactionTries {
			return err
		}
		pause := time.Duration(rand.Int64N(int64(min(try, 10)) * int64(5*time.Millisecond)))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isDuplicate reports whether a unique index refused the row.
func isDuplicate(err error) bool {
	var postgres *pgconn.PgError
	var mariadb *mysql.MySQLError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &postgres):
		return postgres.Code == "23505"
	case errors.As(err, &mariadb):
		return mariadb.Number == 1062
	case errors.As(err, &lite):
		return lite.Code() == lib.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == lib.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// isTransient reports whether the database rolled the transaction back, or never began it, for a
// reason that passes. A connection that broke on the way is none: its commit may have come through.
// But driver.ErrBadConn promises that the server has done nothing: a connection whose last client left
// was broken when it was taken from the pool.
func isTransient(err error) bool {
	if errors.Is(err, driver.ErrBadConn) {
		return true
	}
	var postgres *pgconn.PgError
	var mariadb *mysql.MySQLError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &postgres):
		switch postgres.Code {
		case "40001", "40P01", "55P03", "53300": // serialization, deadlock, lock timeout, too many connections
			return true
		}
	case errors.As(err, &mariadb):
		switch mariadb.Number {
		case 1213, 1205, 1020, 1040: // deadlock, lock timeout, changed since last read, too many connections
			return true
		}
	case errors.As(err, &lite):
		primary := lite.Code() & 0xff
		return primary == lib.SQLITE_BUSY || primary == lib.SQLITE_LOCKED
	}
	return false
}
