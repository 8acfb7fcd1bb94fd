package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// references is a service that keeps an order's reference twice: where the database takes it once, and beside that for people to read. An equal
// reference is the order that is there; or, where it is made into a slug, another order whose slug has a number at its end.
func references(t *testing.T, slug bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate",
		"create table orders (id integer primary key, reference text not null unique, label text not null, quantity integer not null); create table keys (key text primary key, body text, id integer)")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Ref      string `json:"order_ref"`
			Quantity int    `json:"quantity"`
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.Ref == "" {
			says(w, http.StatusBadRequest, `{"error":"body"}`)
			return
		}
		tx, err := db.Begin()
		if err != nil {
			says(w, http.StatusInternalServerError, `{}`)
			return
		}
		defer tx.Rollback()
		id, quantity, stored, said := 0, 0, "", fmt.Sprint(body)
		key := r.Header.Get("Idempotency-Key")
		switch found := tx.QueryRow("select id, body from keys where key = ?", key).Scan(&id, &stored) == nil; {
		case found && stored != said:
			says(w, http.StatusUnprocessableEntity, `{"error":"key_used"}`)
			return
		case found:
			says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
			return
		}
		reference := body.Ref
		if tx.QueryRow("select id, quantity from orders where reference = ?", reference).Scan(&id, &quantity) == nil {
			if !slug && quantity != body.Quantity {
				says(w, http.StatusConflict, `{"error":"other_order"}`)
				return
			}
			if !slug {
				says(w, http.StatusOK, fmt.Sprintf(`{"id":%d}`, id))
				return
			}
			reference = fmt.Sprintf("%s-%s", body.Ref, key)
		}
		_ = tx.QueryRow("insert into orders (reference, label, quantity) values (?, ?, ?) returning id", reference, body.Ref, body.Quantity).Scan(&id)
		_, _ = tx.Exec("insert into keys values (?, ?, ?)", key, said, id)
		_ = tx.Commit()
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitOfATextThatIsKeptTwice holds that rows are found where the database takes the text once, if an equal one names the same thing, and
// elsewhere if it does not.
func TestInitOfATextThatIsKeptTwice(t *testing.T) {
	t.Parallel()
	for slug, want := range map[bool]string{false: "where orders.reference = :marker", true: "where orders.label = :marker"} {
		t.Run(fmt.Sprintf("slug: %t", slug), func(t *testing.T) {
			t.Parallel()
			address, database := references(t, slug)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: abc' -d '{"order_ref": "roof", "quantity": 3}' `+address+"/orders", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, want, said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after", "fresh-key-retry")
			require.Equal(t, exitPass, got.code, "%s\n%s", text, got)
		})
	}
}
