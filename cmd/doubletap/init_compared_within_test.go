package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfAComparisonThatForgetsWhatIsWithin holds that init says where the very text that has the marker is left out of the comparison of bodies,
// such as by a sum of the outer members alone.
func TestInitOfAComparisonThatForgetsWhatIsWithin(t *testing.T) {
	t.Parallel()
	for _, forgets := range []bool{false, true} {
		t.Run(fmt.Sprint("forgets: ", forgets), func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate",
				"create table shipments (id integer primary key, k text not null unique, sum text not null, weight integer not null, street text not null)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Weight int64
					To     struct{ Street, Zip string }
				}
				key := r.Header.Get("Idempotency-Key")
				if json.NewDecoder(r.Body).Decode(&body) != nil || key == "" || body.To.Street == "" || body.Weight < 1 {
					says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
					return
				}
				sum := fmt.Sprint(body.Weight)
				if !forgets {
					sum = fmt.Sprint(body)
				}
				_, _ = db.Exec("insert into shipments (k, sum, weight, street) values (?, ?, ?, ?) on conflict do nothing", key, sum, body.Weight, body.To.Street)
				id, first := 0, ""
				if db.QueryRow("select id, sum from shipments where k = ?", key).Scan(&id, &first) != nil || first != sum {
					says(w, http.StatusUnprocessableEntity, `{"error":"key_reused"}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"weight": 300, "to": {"street": "Hill Road 4", "zip": "SW1A"}}' `+address+"/shipments", "--db", env["DATABASE_URL"])
			text := strings.ReplaceAll(readFile(t, file), "\n# ", " ")
			require.Contains(t, text, "alter: {weight: 301}", said)
			require.Equal(t, forgets, strings.Contains(text, "Whether another /to/street under the same key may get the first one's answer"), text)
		})
	}
}

// TestInitOfAComparisonThatForgetsTheLines holds that init says where a comparison of bodies leaves out the lines of an order, which stand in a table of
// their own, and that runs show it.
func TestInitOfAComparisonThatForgetsTheLines(t *testing.T) {
	t.Parallel()
	for _, forgets := range []bool{false, true} {
		t.Run(fmt.Sprint("forgets: ", forgets), func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate",
				"create table orders (id integer primary key, k text not null unique, sum text not null, customer text not null);"+
					"create table order_lines (id integer primary key, order_id integer not null references orders (id), sku text not null, quantity integer not null)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Customer string
					Items    []struct {
						Sku      string
						Quantity int64
					}
				}
				key := r.Header.Get("Idempotency-Key")
				if json.NewDecoder(r.Body).Decode(&body) != nil || key == "" || body.Customer == "" || len(body.Items) == 0 || body.Items[0].Quantity < 1 {
					says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
					return
				}
				sum := body.Customer
				if !forgets {
					sum = fmt.Sprint(body)
				}
				tx, err := db.Begin()
				if err != nil {
					says(w, http.StatusInternalServerError, `{}`)
					return
				}
				defer func() { _ = tx.Rollback() }()
				made, err := tx.Exec("insert into orders (k, sum, customer) values (?, ?, ?) on conflict do nothing", key, sum, body.Customer)
				if err != nil {
					says(w, http.StatusInternalServerError, `{}`)
					return
				}
				id, first := 0, ""
				if tx.QueryRow("select id, sum from orders where k = ?", key).Scan(&id, &first) != nil || first != sum {
					says(w, http.StatusUnprocessableEntity, `{"error":"key_reused"}`)
					return
				}
				if rows, _ := made.RowsAffected(); rows == 1 {
					for _, item := range body.Items {
						_, _ = tx.Exec("insert into order_lines (order_id, sku, quantity) values (?, ?, ?)", id, item.Sku, item.Quantity)
					}
				}
				if tx.Commit() != nil {
					says(w, http.StatusInternalServerError, `{}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"customer": "Ada Lovelace", "items": [{"sku": "MUG", "quantity": 2}, {"sku": "TEE", "quantity": 1}]}' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := strings.ReplaceAll(readFile(t, file), "\n# ", " ")
			require.Contains(t, text, "alter: {items: [{quantity: 3, sku: MUG}", said)
			require.Equal(t, forgets, strings.Contains(text, "Whether another /items/0/quantity under the same key may get the first one's answer"), text)
		})
	}
}
