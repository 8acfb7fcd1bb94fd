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

// TestInitOfAnOrderWhoseTextIsInItsLines holds that the answer names the order and not its line, though both are numbered alike when init asks,
// and that orders without a line are counted: the broken service makes one before it looks whether the key is known.
func TestInitOfAnOrderWhoseTextIsInItsLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ member, table string }{{"orderId", "orders"}, {"id", "orders"}, {"id", `"shop.orders"`}} { // the last one has a dot in its name
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(c, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate",
					"create table "+c.table+" (id integer primary key, total integer); create table order_items (id integer primary key, order_id integer references "+c.table+" (id), label text); create table keys (k text primary key, order_id integer)")
				address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var body struct {
						Total int
						Items []struct{ Label string }
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					key := r.Header.Get("Idempotency-Key")
					if len(body.Items) == 0 || key == "" {
						says(w, http.StatusBadRequest, `{"code": "incomplete"}`)
						return
					}
					id, status := int64(0), http.StatusCreated
					if inTransaction(w, db, func(tx *sql.Tx) error {
						known := tx.QueryRow("select order_id from keys where k = ?", key).Scan(&id) == nil
						if known {
							status = http.StatusOK
						}
						if !known || broken {
							var made int64
							_ = tx.QueryRow("insert into "+c.table+" (total) values (?) returning id", body.Total).Scan(&made)
							if !known {
								id = made
								_, _ = tx.Exec("insert into order_items (order_id, label) values (?, ?)", id, body.Items[0].Label)
								_, _ = tx.Exec("insert into keys values (?, ?)", key, id)
							}
						}
						return nil
					}) {
						says(w, status, fmt.Sprintf(`{%q: %d}`, c.member, id))
					}
				}))
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"total": 24, "items": [{"label": "lamp for the hall"}]}' `+address+"/orders", "--db", env["DATABASE_URL"])
				text := readFile(t, file)
				require.Contains(t, text, "identity: order_id", said)
				of := strings.ReplaceAll(c.table, `"`, "'")
				require.Contains(t, strings.NewReplacer(`\"`, "'", `"`, "").Replace(strings.Join(strings.Fields(text), " ")), "query: select count(*) from "+of+" where not exists (select 1 from order_items where order_items.order_id = "+of+".id) delta: 0")
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}
