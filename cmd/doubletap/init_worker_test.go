package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// belt accepts charges, which one worker makes, one after the other. With dedups, the worker makes one for each Idempotency-Key.
func belt(t *testing.T, dedups bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table charges (id integer primary key, request text unique, amount integer, memo text)`)
	type job struct {
		request any
		amount  int
		memo    string
	}
	jobs, over := make(chan job, 1000), make(chan struct{})
	t.Cleanup(func() { close(over) })
	go func() {
		for {
			select {
			case <-over:
				return
			case j := <-jobs:
				time.Sleep(300 * time.Millisecond)
				_, _ = db.Exec("insert into charges (request, amount, memo) values (?, ?, ?) on conflict do nothing", j.request, j.amount, j.memo)
			}
		}
	}()
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var j job
		var body struct {
			Amount int
			Memo   string
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		j.amount, j.memo = body.Amount, body.Memo
		if key := r.Header.Get("Idempotency-Key"); dedups && key != "" {
			j.request = key
		}
		jobs <- j
		says(w, http.StatusAccepted, `{"status": "accepted"}`)
	})), "sqlite://" + path
}

// TestInitWaitsForTheSecondRowOfAWorker holds that a repetition is not taken for one without effect because its row comes after the first one's,
// and that no header is the key only because of that.
func TestInitWaitsForTheSecondRowOfAWorker(t *testing.T) {
	t.Parallel()
	for name, dedups := range map[string]bool{"each request": false, "one for a key": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := belt(t, dedups)
			file, _ := initiated(t, map[string]string{"DATABASE_URL": database}, exitPass, "--curl", `curl -d '{"amount": 1250, "memo": "a lamp"}' `+address+"/charges", "--db", database)
			text := readFile(t, file)
			require.NotContains(t, text, "natural_key: [")
			if dedups {
				require.Contains(t, text, "key: {in: header, name: Idempotency-Key}")
			} else {
				require.NotContains(t, text, "    key:")
				require.Contains(t, text, "Whether there is an idempotency key")
			}
		})
	}
}
