package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// cart is a service that takes a line of a cart under a key, and changes the line that is there, of which some columns are unique together. With
// again it changes it with each repetition, too.
func cart(t *testing.T, unique, change string, again bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table cart_lines (id integer primary key, cart_ref text, sku text, quantity integer, unique ("+unique+")); create table requests (key text primary key)")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var line struct {
			CartRef, Sku string
			Quantity     int
		}
		_ = json.NewDecoder(r.Body).Decode(&line)
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			says(w, http.StatusBadRequest, `{"code":"no_key"}`)
			return
		}
		tx, err := db.BeginTx(r.Context(), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer func() { _ = tx.Rollback() }()
		if _, err = tx.Exec("insert into requests values (?)", key); err == nil || again {
			_, err = tx.Exec("insert into cart_lines (cart_ref, sku, quantity) values (?, ?, ?) on conflict ("+unique+") do update set quantity = "+change, line.CartRef, line.Sku, line.Quantity)
			if err == nil {
				err = tx.Commit()
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		var now int
		if err = db.QueryRow("select coalesce(sum(quantity), 0) from cart_lines where sku = ?", line.Sku).Scan(&now); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		says(w, http.StatusOK, fmt.Sprintf(`{"sku":%q,"quantity":%d}`, line.Sku, now))
	})), "sqlite://" + path
}

// TestInitOfALineThatAddsUp holds that a row to which several requests add is no duplicate of theirs, and that a repetition which
// adds again is one.
func TestInitOfALineThatAddsUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unique   string
		body     string
		change   string
		again    bool
		learns   []string
		lacks    string
		exit     int
		findings string
	}{
		"each key adds once":         {"sku", `{"sku": "lamp-1", "quantity": 3}`, "quantity + excluded.quantity", false, []string{"adds: quantity", "content: {quantity: /quantity}"}, "natural_key", exitPass, ""},
		"a repetition adds again":    {"sku", `{"sku": "lamp-1", "quantity": 3}`, "quantity + excluded.quantity", true, []string{"adds: quantity"}, "natural_key", exitFinding, "duplicate in 8 of 8 intents"},
		"a change that is no sum":    {"sku", `{"sku": "lamp-1", "quantity": 3}`, "quantity * 2 + 1", false, []string{"natural_key: [/sku]", "What the row of /sku counts"}, "content:", exitPass, ""},
		"the last quantity replaces": {"sku", `{"sku": "lamp-1", "quantity": 3}`, "excluded.quantity", false, []string{"natural_key: [/sku]"}, "adds:", exitPass, ""},
		"once in each cart":          {"cart_ref, sku", `{"cartRef": "cart-881", "sku": "LAMP", "quantity": 2}`, "quantity + excluded.quantity", false, []string{"adds: quantity", "content: {quantity: /quantity}"}, "natural_key", exitPass, ""},
		"again in each cart":         {"cart_ref, sku", `{"cartRef": "cart-881", "sku": "LAMP", "quantity": 2}`, "quantity + excluded.quantity", true, []string{"adds: quantity"}, "natural_key", exitFinding, "duplicate in 8 of 8 intents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := cart(t, c.unique, c.change, c.again)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '`+c.body+`' `+address+"/cart/lines", "--db", database)
			text := readFile(t, file)
			for _, learnt := range c.learns {
				require.Contains(t, text, learnt)
			}
			require.NotContains(t, text, c.lacks)
			requireRepeated(t, env, file, c.exit, c.findings)
		})
	}
}

// TestInitOfAPutThatMayAdd holds that a PUT may replace what is there, and that one which adds with each repetition is found.
func TestInitOfAPutThatMayAdd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		credit, findings string
		learns           []string
		exit             int
	}{
		"it replaces": {"excluded.credit", "", []string{"content: {credit: /credit}", "Whether another body with the same key may replace the first one"}, exitPass},
		"it adds":     {"credit + excluded.credit", "duplicate in 8 of 8 intents", []string{"adds: credit # the same request again added to the row", "Whether a repetition may add"}, exitFinding},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, stored := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table profiles (id text primary key, name text, credit integer)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var profile struct {
					Name   string
					Credit int
				}
				_ = json.NewDecoder(r.Body).Decode(&profile)
				id := path.Base(r.URL.Path)
				_, err := db.Exec("insert into profiles values (?, ?, ?) on conflict (id) do update set name = excluded.name, credit = "+c.credit, id, profile.Name, profile.Credit)
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				says(w, http.StatusOK, `{"id":"`+id+`"}`)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + stored}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -X PUT -d '{"name": "Ada L.", "credit": 100}' `+address+"/profiles/0d9a1c1e-8f5c-4a4e-9d2e-0c6c1f6f7a11", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			for _, learnt := range c.learns {
				require.Contains(t, text, learnt)
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay")
			require.Equal(t, c.exit, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
