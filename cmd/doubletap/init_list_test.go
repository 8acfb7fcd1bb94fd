package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitAltersWhatStandsInAList holds that another body is sent, too, where all that can be another one stands in a list, which is replaced as a
// whole, with the marker in it: the broken service compares the label alone.
func TestInitAltersWhatStandsInAList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, alter, content string }{
		"the marker beside it": {`{"remark": "quick please", "items": [{"sku": "a", "qty": 2}]}`, "alter: {items: [{qty: 3, sku: a}]}", "content: {qty: /items/0/qty}"},
		"the marker in it":     {`{"items": [{"label": "lamp for the hall", "qty": 2}]}`, "alter: {items: [{label: \"{{.Intent.Marker}}\", qty: 3}]}", "content: {qty: /items/0/qty}"},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, text text, qty integer, k text unique)")
				address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var body struct {
						Remark string
						Items  []struct {
							Label string
							Qty   int
						}
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					key := r.Header.Get("Idempotency-Key")
					if len(body.Items) != 1 || key == "" || body.Items[0].Qty < 1 {
						says(w, http.StatusBadRequest, `{"code": "incomplete"}`)
						return
					}
					var id, qty int64
					var stored string
					text := body.Remark + body.Items[0].Label
					_, _ = db.Exec("insert into orders (text, qty, k) values (?, ?, ?) on conflict do nothing", text, body.Items[0].Qty, key)
					_ = db.QueryRow("select id, text, qty from orders where k = ?", key).Scan(&id, &stored, &qty)
					if stored != text || !broken && qty != int64(body.Items[0].Qty) {
						says(w, http.StatusUnprocessableEntity, `{"code": "key_reused"}`)
						return
					}
					says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
				}))
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '`+c.body+`' `+address+"/orders", "--db", env["DATABASE_URL"])
				text := readFile(t, file)
				require.Contains(t, text, c.content, said)
				if !broken { // or else one text stands in both bodies
					require.Contains(t, text, c.alter)
				}
				require.Contains(t, text, "fingerprint: {on_mismatch: reject, statuses: [422]")
				got := callWith(t.Context(), env, "run", "altered-after", "plain-create", "distinct-twins", "--target", file, "--reports", t.TempDir(), "--seed", "1")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
				if broken {
					require.Contains(t, got.out, "altered-body-violation")
				}
			})
		}
	}
}
