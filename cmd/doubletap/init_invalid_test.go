package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfABodyThatIsRefused holds that init finds a body which is refused for what it says, so that runs correct one. The broken service claims
// the key before it looks at the body, and a refusal leaves the claim behind.
func TestInitOfABodyThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, broken bool
		invalid      string
		want         int
	}{
		{false, false, "quantity: -1", exitPass},
		{false, true, "quantity: -1", exitFinding},
		{true, false, `colour: ""`, exitPass},
		{true, true, `colour: ""`, exitFinding},
	} {
		broken := c.broken
		t.Run(fmt.Sprintf("a text: %t, broken: %t", c.text, broken), func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, item text, quantity int); create table claims (name text primary key, made int)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Item, Colour string
					Quantity     int
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				if c.text && body.Colour != "" {
					body.Quantity = len(body.Colour)
				}
				key := r.Header.Get("Idempotency-Key")
				if key == "" || body.Quantity < 1 && !broken {
					says(w, http.StatusUnprocessableEntity, `{"error": "invalid"}`)
					return
				}
				claimed, err := makes(db, "insert into claims values (?, 0) on conflict do nothing", key)
				id, quantity := 0, 0
				switch {
				case err != nil:
				case claimed && body.Quantity < 1:
					says(w, http.StatusUnprocessableEntity, `{"error": "invalid"}`)
					return
				case claimed:
					if err = db.QueryRow("insert into orders (item, quantity) values (?, ?) returning id", body.Item, body.Quantity).Scan(&id); err == nil {
						_, err = db.Exec("update claims set made = ? where name = ?", id, key)
					}
				case db.QueryRow("select orders.id, quantity from claims join orders on orders.id = made where name = ?", key).Scan(&id, &quantity) != nil:
					says(w, http.StatusConflict, `{"error": "in_progress"}`)
					return
				case quantity != body.Quantity:
					says(w, http.StatusConflict, `{"error": "another_body"}`)
					return
				}
				if err != nil {
					says(w, http.StatusInternalServerError, `{"error": "database"}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			source := `{"item": "a desk lamp", "quantity": 2}`
			if c.text {
				source = `{"item": "a desk lamp", "colour": "pale green"}`
			}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-20240017' -d '`+source+`' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "\n    invalid: {"+c.invalid+"} # it was refused with 422", said)
			require.Equal(t, broken, strings.Contains(text, "errors: {store_4xx: false}"), text)
			require.Equal(t, broken, strings.Contains(text, "a body that was refused with 422 was answered 409 when it came again"), text)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "corrected-after-refusal")
			require.Equal(t, c.want, got.code, "%s\n%s", text, got)
		})
	}
}
