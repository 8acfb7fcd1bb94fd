package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfWhatCreatesShare holds that a row which creates share, found or made by the text before it is known whether the key was used, is not
// taken for what a create makes, and its text for no natural key. The broken service makes another one with each repetition.
func TestInitOfWhatCreatesShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		curl   string
		plain  bool // answers hold nothing, and the key stands in the order
		learns []string
	}{
		"key in the path, answered by nothing": {
			`curl -X PUT -H 'Content-Type: application/json' -d '{"customer": "Ada of the office", "total": 24}' %s/orders/30328d13-e299-4a93-a102-61e4ccabe474`, true,
			[]string{`path: "/orders/{{.Key}}"`},
		},
		"key in a header, and the answer names the thing": {
			`curl -H 'Idempotency-Key: 30328d13-e299-4a93-a102-61e4ccabe474' -H 'Content-Type: application/json' -d '{"customer": "Ada of the office", "total": 24}' %s/orders`, false,
			[]string{"identity: /orderId", "identity: id", "fingerprint: {on_mismatch: reject, statuses: [409]"},
		},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `
					create table customers (id integer primary key, name text not null unique);
					create table orders (id integer primary key, customer_id integer not null references customers (id), total integer, k text);
					create table keys (k text, order_id integer, body text)`)
				create := func(w http.ResponseWriter, r *http.Request) {
					var body struct {
						Customer string
						Total    int
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					key := r.Header.Get("Idempotency-Key")
					if last := r.PathValue("key"); last != "" {
						key = last
					}
					if key == "" || body.Customer == "" || body.Total < 1 {
						says(w, http.StatusBadRequest, `{"code": "incomplete"}`)
						return
					}
					tx, err := db.Begin()
					if err != nil {
						http.Error(w, err.Error(), http.StatusInternalServerError)
						return
					}
					defer tx.Rollback()
					_, _ = tx.Exec("insert into customers (name) values (?) on conflict do nothing", body.Customer)
					var customer, id int64
					_ = tx.QueryRow("select id from customers where name = ?", body.Customer).Scan(&customer)
					said, before := fmt.Sprint(body), ""
					known := tx.QueryRow("select order_id, body from keys where k = ?", key).Scan(&id, &before) == nil
					status := http.StatusCreated
					switch {
					case known && before != said:
						_ = tx.Commit() // the customer stays
						says(w, http.StatusConflict, `{"code": "another-body"}`)
						return
					case known && !broken:
						status = http.StatusOK
					default:
						stored := ""
						if c.plain {
							stored = key
						}
						_ = tx.QueryRow("insert into orders (customer_id, total, k) values (?, ?, ?) returning id", customer, body.Total, stored).Scan(&id)
						_, _ = tx.Exec("insert into keys values (?, ?, ?)", key, id, said)
					}
					_ = tx.Commit()
					if c.plain {
						w.WriteHeader(http.StatusNoContent)
						return
					}
					says(w, status, fmt.Sprintf(`{"orderId": %d}`, id))
				}
				mux := http.NewServeMux()
				mux.HandleFunc("POST /orders", create)
				mux.HandleFunc("PUT /orders/{key}", create)
				address := serveBoth(t, mux)
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, said := initiated(t, env, exitPass, "--curl", fmt.Sprintf(c.curl, address), "--db", env["DATABASE_URL"])
				text := readFile(t, file)
				require.NotContains(t, text, "natural_key: [/customer]", said)
				require.Contains(t, strings.Join(strings.Fields(text), " "), "from orders where orders.customer_id in (select customers.id from customers where customers.name = :marker)", said)
				if !broken {
					for _, line := range c.learns {
						require.Contains(t, text, line, said)
					}
				}
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after", "distinct-twins")
				require.Equal(t, want, got.code, "%s\n%s\n%s", said, text, got)
			})
		}
	}
}
