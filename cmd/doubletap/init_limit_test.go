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

// TestInitLearnsTheRateLimit holds that a target which turns requests away for their number is asked again, and that the file says how
// many it takes, so that a run keeps to it.
func TestInitLearnsTheRateLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header string
		learns []string
	}{
		"by its answers":           {"10, 10;w=1", []string{"rate_limit: {requests: 5, per: 1s}", "its answers say so"}},
		"by what it lets through":  {"", []string{"rate_limit: {requests: 5, per: ", "that got through, and more were answered 429"}},
		"by its answers and waits": {"10", []string{"rate_limit: {requests: 5, per: 1s}", "its answers say so"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, remark text, k text unique)")
			var mu sync.Mutex
			let, since := 0, time.Time{} // it lets ten through, and then none for a second
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				let++
				over := let > 10
				switch {
				case over && since.IsZero():
					since = time.Now()
				case over && time.Since(since) >= time.Second:
					let, since, over = 1, time.Time{}, false
				}
				mu.Unlock()
				if c.header != "" {
					w.Header().Set("RateLimit-Limit", c.header)
				}
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				key := r.Header.Get("Idempotency-Key")
				switch {
				case over:
					w.Header().Set("Retry-After", "1")
					says(w, http.StatusTooManyRequests, `{"code": "slow_down"}`)
					return
				case key == "":
					says(w, http.StatusBadRequest, `{"code": "no_key"}`)
					return
				}
				_, _ = db.Exec("insert into orders (remark, k) values (?, ?)", body["remark"], key)
				var id int64
				require.NoError(t, db.QueryRow("select id from orders where k = ?", key).Scan(&id))
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			file, said := initiated(t, nil, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please", "fee": 12}' `+address+"/orders", "--db", "sqlite://"+path)
			text := readFile(t, file)
			for _, line := range append(c.learns, "missing_key: {statuses: [400], where: {/code: no_key}}") {
				require.Contains(t, text, line, said)
			}
		})
	}
}
