package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitPromisesTheFirstAnswerToAnotherBody holds that another body under a used key is promised the first one's answer where it got that, or
// one that says what the other body says, and not where it got another answer about the first one's row.
func TestInitPromisesTheFirstAnswerToAnotherBody(t *testing.T) {
	t.Parallel()
	const promise = "fingerprint: {on_mismatch: replay-original}"
	for name, c := range map[string]struct {
		answer   func(id, stored, sent int64) string
		promises bool
		doubt    string
		code     int
	}{
		"the first answer": {func(id, stored, _ int64) string { return fmt.Sprintf(`{"id": %d, "fee": %d}`, id, stored) }, true, "", exitPass},
		"with a warning": {func(id, stored, sent int64) string {
			return fmt.Sprintf(`{"id": %d, "fee": %d, "same": %t}`, id, stored, stored == sent)
		}, false, "not all of its answer (/same differs)", exitPass},
		"what the other body says": {func(id, _, sent int64) string { return fmt.Sprintf(`{"id": %d, "fee": %d}`, id, sent) }, true, "", exitFinding},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, remark text, fee integer, k text unique)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Remark string
					Fee    int64
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				key := r.Header.Get("Idempotency-Key")
				var id, stored int64
				_, _ = db.Exec("insert into orders (remark, fee, k) values (?, ?, ?) on conflict do nothing", body.Remark, body.Fee, key)
				_ = db.QueryRow("select id, fee from orders where k = ?", key).Scan(&id, &stored)
				says(w, http.StatusCreated, c.answer(id, stored, body.Fee))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please", "fee": 1250}' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := strings.ReplaceAll(readFile(t, file), "\n#", "")
			require.Equal(t, c.promises, strings.Contains(text, promise), "%s\n%s", text, said)
			require.Contains(t, text, c.doubt)
			got := callWith(t.Context(), env, "run", "altered-after", "plain-create", "--target", file, "--reports", t.TempDir(), "--seed", "1")
			require.Equal(t, c.code, got.code, "%s\n%s", text, got)
			if c.code == exitFinding {
				require.Contains(t, got.out, "replay-mismatch")
			}
		})
	}
}
