package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitKeepsTheNameOfWhatIsMoved holds that a row without a primary key that is moved is the one that it was, where what else is in it has changed.
func TestInitKeepsTheNameOfWhatIsMoved(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `
		create table transfers (id text not null unique, k text not null unique, memo text not null, cents integer not null);
		create table old_transfers (id text not null unique, k text not null unique, memo text not null, cents integer not null)`)
	address := transfers(t, db, func(string, transfer) {}, func(id string, _ transfer) {
		time.AfterFunc(4*time.Second, func() {
			if tx, err := db.Begin(); err == nil {
				_, _ = tx.Exec("insert into old_transfers select id, k, memo, 0 from transfers where id = ?", id)
				_, _ = tx.Exec("delete from transfers where id = ?", id)
				_ = tx.Commit()
			}
		})
	}, false)
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"memo": "rent of march", "cents": 300}' `+address+"/transfers", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "are moved to old_transfers", said)
	require.Contains(t, text, "      identity: id\n", said)
}
