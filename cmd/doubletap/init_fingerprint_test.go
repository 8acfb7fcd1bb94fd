package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitSeesWhatAComparisonLeavesOut holds that another amount under a used key, which gets the first one's answer, is a broken promise
// where another text is refused: the API compares bodies, and what it has stored is not part of that.
func TestInitSeesWhatAComparisonLeavesOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		compares, member string
		code             int
	}{
		"the amount": {"remark = ?1", "fee", exitFinding},
		"nothing":    {"remark = ?1 and fee = ?2", "fee", exitPass},
		"the time":   {"remark = ?1", "sent_at", exitPass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, remark text, fee numeric, k text unique)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				key, status, id := r.Header.Get("Idempotency-Key"), http.StatusCreated, int64(0)
				made, err := db.Exec("insert into orders (remark, fee, k) values (?, ?, ?)", body["remark"], body[c.member], key)
				if err == nil {
					id, _ = made.LastInsertId()
				} else if err = db.QueryRow("select id from orders where k = ?3 and "+c.compares, body["remark"], body[c.member], key).Scan(&id); err != nil {
					says(w, http.StatusUnprocessableEntity, `{"code": "key_reused"}`)
					return
				}
				says(w, status, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", fmt.Sprintf(`curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please", %q: 1250}' %s/orders`, c.member, address), "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "fingerprint: {on_mismatch: reject, statuses: [422]", said)
			got := callWith(t.Context(), env, "run", "altered-after", "plain-create", "--target", file, "--reports", t.TempDir(), "--seed", "1")
			require.Equal(t, c.code, got.code, "%s\n%s", text, got)
			if c.code == exitFinding {
				require.Contains(t, got.out, "altered-body-violation")
			}
		})
	}
}
