package writegate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// postgres is a table's name with its schema, quoted by the server.
type postgres string

// findPostgres has the server look for the table and quote its name: it knows the search
// path.
func findPostgres(ctx context.Context, db *sql.DB, table string) (lock, error) {
	var name postgres
	err := db.QueryRowContext(ctx, `select format('%I.%I', nspname, relname)
		from pg_class join pg_namespace on pg_namespace.oid = relnamespace
		where pg_class.oid = to_regclass($1)`, table).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errors.New("no such table")
	}
	return name, err
}

// take locks in SHARE mode: it conflicts with the ROW EXCLUSIVE lock of every statement that writes,
// and with nothing that SELECT takes, FOR UPDATE included. All settings end with the transaction.
func (table postgres) take(ctx context.Context, conn *sql.Conn, longest time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf(`begin read write;
		set local lock_timeout = %d;
		set local idle_in_transaction_session_timeout = %d;
		lock table %s in share mode`,
		patience.Milliseconds(), (longest+margin).Milliseconds(), table))
	return err
}

// give ends the transaction, and with it the lock and all settings.
func (postgres) give() (string, bool) { return "rollback", true }

// waiting counts the statements that write. What waits for a stronger lock than theirs is a
// LOCK TABLE or a change of the schema.
func (table postgres) waiting(ctx context.Context, db *sql.DB) (n int, known bool, err error) {
	err = db.QueryRowContext(ctx, `select count(*) from pg_locks
		where not granted and locktype = 'relation' and mode = 'RowExclusiveLock' and relation = to_regclass($1)
		and database = (select oid from pg_database where datname = current_database())`, string(table)).Scan(&n)
	return n, true, err
}
