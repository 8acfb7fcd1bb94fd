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
		usedUp bool
	}{"a small payment": {30, true}, "a large payment": {100000, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var one sync.Mutex
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table refunds (id integer primary key, amount numeric, comment text)")
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
				if db.QueryRow("select id from refunds where comment = ? and amount = ?", body.Comment, body.Amount).Scan(&id) == nil {
					says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
					return
				}
				require.NoError(t, db.QueryRow("select coalesce(sum(amount), 0) from refunds").Scan(&sum))
				if body.Amount <= 0 || sum+body.Amount > c.paid {
					says(w, http.StatusConflict, `{"detail": "exceeds the payment"}`)
					return
				}
				made, err := db.Exec("insert into refunds (amount, comment) values (?, ?)", body.Amount, body.Comment)
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
