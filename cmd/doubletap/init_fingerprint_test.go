package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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

// TestInitAsksForEachMemberWhetherItIsCompared holds that a comparison which leaves out one of several members is a broken promise where another
// value is another order, and a doubt where it may be meant.
func TestInitAsksForEachMemberWhetherItIsCompared(t *testing.T) {
	t.Parallel()
	const all = "remark = :remark and fee = :fee and currency = :currency and pieces = :pieces and hint = :hint"
	for name, c := range map[string]struct {
		compares string
		code     int
		alters   string
		doubt    bool
	}{
		"all":          {all, exitPass, "alter: {fee: 1251}", false},
		"no currency":  {strings.Replace(all, " and currency = :currency", "", 1), exitFinding, "alter: {currency: USD}", true},
		"no number":    {strings.Replace(all, " and pieces = :pieces", "", 1), exitFinding, "alter: {pieces: 4}", true},
		"no sentences": {strings.Replace(all, " and hint = :hint", "", 1), exitPass, "alter: {fee: 1251}", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table orders (id integer primary key, remark text, fee integer, currency text, pieces integer, hint text, k text unique)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				key, id := r.Header.Get("Idempotency-Key"), int64(0)
				values := []any{sql.Named("key", key)}
				for _, member := range []string{"remark", "fee", "currency", "pieces", "hint"} {
					values = append(values, sql.Named(member, body[member]))
				}
				made, err := db.Exec("insert into orders (remark, fee, currency, pieces, hint, k) values (:remark, :fee, :currency, :pieces, :hint, :key)", values...)
				if err == nil {
					id, _ = made.LastInsertId()
				} else if err = db.QueryRow("select id from orders where k = :key and "+c.compares, values...).Scan(&id); err != nil {
					says(w, http.StatusUnprocessableEntity, `{"code": "key_reused"}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", fmt.Sprintf(`curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please", "fee": 1250, "currency": "EUR", "pieces": 3, "hint": "at the back door"}' %s/orders`, address), "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, c.alters, said)
			require.Equal(t, c.doubt, strings.Contains(strings.ReplaceAll(text, "\n#", ""), "under the same key may get the first one's answer"), text)
			got := callWith(t.Context(), env, "run", "altered-after", "altered-race", "plain-create", "--target", file, "--reports", t.TempDir(), "--seed", "1")
			require.Equal(t, c.code, got.code, "%s\n%s", text, got)
			if c.code == exitFinding {
				require.Contains(t, got.out, "altered-body-violation")
			}
		})
	}
}
