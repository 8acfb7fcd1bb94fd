package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitSaysThatCreatesHaveUsedUpWhatTheyTakeFrom holds that refunds that come to the end of their payment while init learns are no "value that is
// taken" without a word: runs could make no create then. A payment that lasts brings no such doubt.
func TestInitSaysThatCreatesHaveUsedUpWhatTheyTakeFrom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paid   float64
		keyed  bool // a repetition is known by its key
		usedUp bool
	}{"a small payment": {30, false, true}, "a small payment, and keys": {100, true, true}, "a large payment": {100000, false, false}, "a large payment, and keys": {100000, true, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var one sync.Mutex
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table refunds (id integer primary key, amount numeric, comment text, key text)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				one.Lock()
				defer one.Unlock()
				var body struct {
					Amount  float64
					Comment string
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				var sum float64
				var id int64
				known := "select id from refunds where comment = ? and amount = ?"
				if c.keyed {
					known = "select id from refunds where key = ?3"
				}
				if db.QueryRow(known, body.Comment, body.Amount, r.Header.Get("Idempotency-Key")).Scan(&id) == nil {
					says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
					return
				}
				require.NoError(t, db.QueryRow("select coalesce(sum(amount), 0) from refunds").Scan(&sum))
				if body.Amount <= 0 || sum+body.Amount > c.paid {
					says(w, http.StatusConflict, `{"detail": "exceeds the payment"}`)
					return
				}
				made, err := db.Exec("insert into refunds (amount, comment, key) values (?, ?, ?)", body.Amount, body.Comment, r.Header.Get("Idempotency-Key"))
				require.NoError(t, err)
				id, _ = made.LastInsertId()
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			file, said := initiated(t, nil, exitPass, "--curl", `curl -H 'Idempotency-Key: rf-1' -H 'Content-Type: application/json' -d '{"amount": 12.50, "comment": "Concert was moved"}' `+address+"/refunds", "--db", "sqlite://"+path)
			if c.usedUp {
				require.Contains(t, readFile(t, file), "Whether creates are still done", said)
			} else {
				require.NotContains(t, readFile(t, file), "Whether creates are still done", said)
			}
		})
	}
}
