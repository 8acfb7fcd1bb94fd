package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfRowsThatAreSpreadOverTables holds that rows are counted in all tables over which they are spread by a number.
func TestInitOfRowsThatAreSpreadOverTables(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("in turn: ", broken), func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `create table events_0 (id integer primary key, idem text unique, title text, seats integer);
				create table events_1 (id integer primary key, idem text unique, title text, seats integer); insert into events_1 values (1000000, 'none', 'none', 1)`)
			var turn atomic.Uint32
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Title string
					Seats int
				}
				key := r.Header.Get("Idempotency-Key")
				if json.NewDecoder(r.Body).Decode(&body) != nil || key == "" {
					says(w, http.StatusBadRequest, `{"error":"invalid"}`)
					return
				}
				shard := crc32.ChecksumIEEE([]byte(key)) % 2
				if broken {
					shard = turn.Add(1) % 2
				}
				table := fmt.Sprint("events_", shard)
				id := 0
				_, err := db.Exec("insert or ignore into "+table+" (idem, title, seats) values (?, ?, ?)", key, body.Title, body.Seats)
				if err == nil {
					err = db.QueryRow("select id from "+table+" where idem = ?", key).Scan(&id)
				}
				if err != nil {
					says(w, http.StatusInternalServerError, `{}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: abc-1' -d '{"title": "fair", "seats": 20}' `+address+"/events", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, " union all select id, ", said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "double-click")
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
