package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitTellsARunningRequestFromARateLimit holds that 429 with Retry-After, which a copy of a running request gets and no other create,
// is what the contract has for it. The broken service forgets a key as soon as its request is done.
func TestInitTellsARunningRequestFromARateLimit(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, remark text, k text)")
			var mu sync.Mutex
			running := map[string]bool{}
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Remark string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				key := r.Header.Get("Idempotency-Key")
				mu.Lock()
				runs := running[key]
				running[key] = true
				mu.Unlock()
				if runs {
					w.Header().Set("Retry-After", "1")
					says(w, http.StatusTooManyRequests, `{"code": "under_way"}`)
					return
				}
				var id int64
				if broken || db.QueryRow("select id from orders where k = ?", key).Scan(&id) != nil {
					time.Sleep(50 * time.Millisecond)
					_ = db.QueryRow("insert into orders (remark, k) values (?, ?) returning id", body.Remark, key).Scan(&id)
				}
				mu.Lock()
				delete(running, key)
				mu.Unlock()
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please"}' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.NotContains(t, text, "rate_limit", said)
			if !broken {
				require.Contains(t, text, "in_progress: {mode: reject, statuses: [429], where: {/code: under_way}}", said)
			}
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
