package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitOfRowsThatReferToNothing holds that rows which a create has made for a thing that another one made first are found, though no foreign
// key says that they belong to one, and no row query leads to them.
func TestInitOfRowsThatReferToNothing(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `
				create table transfers (id text primary key, k text not null unique, memo text not null, cents integer not null);
				create table postings (id integer primary key, transfer_id text not null, account text not null, cents integer not null)`)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Memo  string
					Cents int64
				}
				key := r.Header.Get("Idempotency-Key")
				if json.NewDecoder(r.Body).Decode(&body) != nil || key == "" || body.Memo == "" || body.Cents < 1 {
					says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
					return
				}
				id, memo, cents := "", "", int64(0)
				get := func() error {
					return db.QueryRow("select id, memo, cents from transfers where k = ?", key).Scan(&id, &memo, &cents)
				}
				if get() != nil {
					made := rand.Text()
					post := func() {
						_, _ = db.Exec("insert into postings (transfer_id, account, cents) values (?1, 'cash', -?2), (?1, 'sales', ?2)", made, body.Cents)
					}
					if broken {
						post()
						time.Sleep(2 * time.Millisecond)
					}
					result, err := db.Exec("insert into transfers values (?, ?, ?, ?) on conflict do nothing", made, key, body.Memo, body.Cents)
					if err == nil && !broken {
						if n, _ := result.RowsAffected(); n > 0 {
							post()
						}
					}
					_ = get()
				}
				if memo != body.Memo || cents != body.Cents {
					says(w, http.StatusUnprocessableEntity, `{"error":"key_reused"}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%q,"cents":%d}`, id, cents))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"memo": "rent of march", "cents": 300}' `+address+"/transfers", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "name: postings-without-transfers", said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "burst-same-key")
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
