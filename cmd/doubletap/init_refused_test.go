package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfWhatFailsForAConstraint holds that the natural key is what the database has once, where the service answers a failure to that: the text with
// the marker may stand in any number of rows.
func TestInitOfWhatFailsForAConstraint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, curl, want string }{
		"a number": {"create table invoices (id integer primary key, invoice_no text unique, customer text, amount integer)",
			`curl -d '{"invoice_no": "INV-417", "customer": "Ada of the office", "amount": 100}' `, "natural_key: [/invoice_no] # the database refuses"},
		"two of three": {"create table invoices (id integer primary key, invoice_no text, customer text, amount integer, unique (invoice_no, amount))",
			`curl -d '{"invoice_no": "INV-417", "customer": "Ada of the office", "amount": 100}' `, "natural_key: [/invoice_no, /amount] # the database refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", c.schema)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Number   string `json:"invoice_no"`
					Customer string
					Amount   int
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				if _, err := db.Exec("insert into invoices (invoice_no, customer, amount) values (?, ?, ?)", body.Number, body.Customer, body.Amount); err != nil {
					says(w, http.StatusInternalServerError, `{"message": "Internal Server Error"}`)
					return
				}
				says(w, http.StatusCreated, `{"made": true}`)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", c.curl+address+"/invoices", "--db", env["DATABASE_URL"])
			require.Contains(t, readFile(t, file), c.want, said)
		})
	}
}
