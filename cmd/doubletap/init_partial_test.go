package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitTakesAMemberCalledAsTheTable holds that {"order": 150} names the row of pizza_orders with this primary key, so that answers which name
// another row are seen, and that a number is no name which equals the key in one create only, or counts what there is.
func TestInitTakesAMemberCalledAsTheTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   func(id, count int64) string
		identity bool
	}{
		"the key":              {func(id, _ int64) string { return fmt.Sprintf(`{"ok": true, "order": %d}`, id) }, true},
		"a number of its own":  {func(int64, int64) string { return `{"ok": true, "order": 1}` }, false},
		"how many there are":   {func(_, count int64) string { return fmt.Sprintf(`{"ok": true, "order": %d}`, count) }, false},
		"a number of the many": {func(id, _ int64) string { return fmt.Sprintf(`{"ok": true, "orders": %d}`, id) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table pizza_orders (id integer primary key, remark text, k text unique)")
			var broken atomic.Bool // answers name the order before
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Remark string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				key := r.Header.Get("Idempotency-Key")
				var id, count int64
				_, _ = db.Exec("insert into pizza_orders (remark, k) values (?, ?) on conflict do nothing", body.Remark, key)
				_ = db.QueryRow("select id, (select count(*) from pizza_orders) from pizza_orders where k = ?", key).Scan(&id, &count)
				if broken.Load() {
					id--
				}
				says(w, http.StatusCreated, c.answer(id, count))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please"}' `+address+"/order", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Equal(t, c.identity, strings.Contains(text, "identity: /order\n") && strings.Contains(text, "identity: id\n"), "%s\n%s", text, said)
			require.Equal(t, c.identity, strings.Contains(text, "identity: "), text)
			plays := func(want int) {
				t.Helper()
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			}
			if plays(exitPass); c.identity {
				broken.Store(true)
				plays(exitFinding)
			}
		})
	}
}

// TestInitNamesARowThatAnotherBodyHasBeside holds that the name of a row is kept where another body of the same phone makes another row: the
// first one's name is not looked for in that.
func TestInitNamesARowThatAnotherBodyHasBeside(t *testing.T) {
	t.Parallel()
	for _, member := range []string{"order", "id"} {
		t.Run(member, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", "create table pizza_orders (id integer primary key, phone text, count integer)")
			var broken atomic.Bool // answers name the order before
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Phone string
					Count int
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				id, status := int64(0), http.StatusOK
				if !inTransaction(w, db, func(tx *sql.Tx) error {
					if tx.QueryRow("select id from pizza_orders where phone = ? and count = ?", body.Phone, body.Count).Scan(&id) == nil {
						return nil
					}
					status = http.StatusCreated
					return tx.QueryRow("insert into pizza_orders (phone, count) values (?, ?) returning id", body.Phone, body.Count).Scan(&id)
				}) {
					return
				}
				if broken.Load() {
					id--
				}
				says(w, status, fmt.Sprintf(`{"ok": true, %q: %d}`, member, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"phone": "+49 151 2345678", "count": 2}' `+address+"/order", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "natural_key: [/phone, /count]", said)
			require.Contains(t, text, "identity: /"+member+"\n")
			require.Contains(t, text, "identity: id\n")
			for code, breaks := range []bool{false, true} {
				broken.Store(breaks)
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, []int{exitPass, exitFinding}[code], got.code, "%s\n%s", text, got)
			}
		})
	}
}

// TestInitTakesTheEndOfALocation holds that the end of a Location names the row where its primary key has other columns, too, which the path has:
// answers that name another row are seen.
func TestInitTakesTheEndOfALocation(t *testing.T) {
	t.Parallel()
	const prepared = `openapi: 3.0.3
info: {title: accounts, version: "1"}
paths:
  /accounts:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string}}}}}}
      responses: {"201": {description: made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}
  /accounts/{accountId}/payments:
    post:
      parameters:
        - {name: accountId, in: path, required: true, schema: {type: integer}}
        - {name: Idempotency-Key, in: header, required: true, schema: {type: string}}
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [remark], properties: {remark: {type: string}}}}}}
      responses: {"201": {description: made}}
`
	for name, c := range map[string]struct {
		fixed bool
		has   []string
	}{
		"of one account":   {true, []string{"identity: {header: Location, pattern: ", "/payments/([0-9]+)", "identity: seq\n"}},
		"of many accounts": {false, []string{"identity: {header: Location, pattern: ", "/payments/([0-9]+)", "the primary key of payments is (account_id, seq), and seq of another row may be the same"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table accounts (id integer primary key, name text); insert into accounts (id, name) values (7, 'first'); create table payments (account_id integer references accounts (id), seq integer, remark text, k text, primary key (account_id, seq), unique (account_id, k))")
			var broken atomic.Bool // answers name the payment before
			mux := http.NewServeMux()
			mux.HandleFunc("POST /accounts", func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Name string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				var id int64
				_ = db.QueryRow("insert into accounts (name) values (?) returning id", body.Name).Scan(&id)
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			})
			mux.HandleFunc("POST /accounts/{account}/payments", func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Remark string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				account, key := r.PathValue("account"), r.Header.Get("Idempotency-Key")
				if key == "" {
					says(w, http.StatusBadRequest, `{"code": "key"}`)
					return
				}
				var seq int64
				_, _ = db.Exec("insert into payments select ?1, coalesce(max(seq), 0) + 1, ?2, ?3 from payments where account_id = ?1 on conflict do nothing", account, body.Remark, key)
				_ = db.QueryRow("select seq from payments where account_id = ? and k = ?", account, key).Scan(&seq)
				if broken.Load() {
					seq--
				}
				w.Header().Set("Location", fmt.Sprintf("/accounts/%s/payments/%d", account, seq))
				w.WriteHeader(http.StatusCreated)
			})
			address := serveBoth(t, mux)
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			from := []string{"--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please"}' ` + address + "/accounts/7/payments"}
			if !c.fixed {
				from = []string{"--openapi", writeFile(t, "accounts.yaml", prepared), "--url", address, "--operation", "POST /accounts/{accountId}/payments"}
			}
			file, said := initiated(t, env, exitPass, append(from, "--db", env["DATABASE_URL"])...)
			text := strings.ReplaceAll(readFile(t, file), "\n#", "")
			for _, line := range c.has {
				require.Contains(t, text, line, said)
			}
			require.Equal(t, c.fixed, strings.Contains(text, "identity: seq\n"), text)
			plays := func(want int) {
				t.Helper()
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			}
			if plays(exitPass); c.fixed {
				broken.Store(true)
				plays(exitFinding)
			}
		})
	}
}
