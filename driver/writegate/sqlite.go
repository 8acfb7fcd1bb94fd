package writegate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// sqlite locks the file, whatever the table.
type sqlite struct{}

// findSQLite makes sure that the table is there: locking the file would succeed without
// it.
func findSQLite(ctx context.Context, db *sql.DB, table string) (lock, error) {
	name, err := parts(table)
	if err != nil {
		return nil, err
	}
	// A connection knows its own file by the name "main" and no other that could be meant.
	if len(name) == 2 && name[0] != "main" {
		return nil, fmt.Errorf("no such schema: %s", name[0])
	}
	var found int
	err = db.QueryRowContext(ctx, "select 1 from sqlite_master where type = 'table' and name = ? collate nocase", name[len(name)-1]).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errors.New("no such table")
	}
	return sqlite{}, err
}

// take begins a transaction that writes nothing. The system ends it with our process, so that longest
// needs no second guard.
func (sqlite) take(ctx context.Context, conn *sql.Conn, _ time.Duration) error {
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("pragma busy_timeout = %d", patience.Milliseconds())); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "begin immediate")
	return err
}

// give ends the transaction, which has written nothing.
func (sqlite) give() (string, bool) { return "rollback", true }

// waiting is unknown: writers sleep in their own processes, and ask again.
func (sqlite) waiting(context.Context, *sql.DB) (n int, known bool, err error) { return 0, false, nil }
