package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keysUnder is how a service looks at a key that comes under another customer.
type keysUnder string

const (
	oneForAll   keysUnder = "broken: what was made under the other customer is shown"
	oneEach     keysUnder = "correct: it is another key"
	refusedElse keysUnder = "correct: it is refused"
)

// open starts the service: customers have orders, and a balance where the service keeps one.
func (k keysUnder) open(t *testing.T, balance bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table customers (id integer primary key, handle text not null unique, balance integer not null);
		insert into customers values (17, 'acme', 0), (18, 'globex', 0), (19, 'closed', 0);
		create table orders (id integer primary key, customer_id integer not null references customers (id), note text not null, amount integer not null, key text not null);
		create unique index one on orders (customer_id, key)`)
	db.SetMaxOpenConns(1)
	routes := http.NewServeMux()
	routes.HandleFunc("POST /customers/{customer}/orders", func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			Note     string
			Amount   int
			Customer int `json:"customer_id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&order)
		key := r.Header.Get("Idempotency-Key")
		if key == "" || order.Note == "" {
			says(w, http.StatusBadRequest, `{"error":"a key and a note are needed"}`)
			return
		}
		var id, of int64
		status := http.StatusCreated
		if !inTransaction(w, db, func(tx *sql.Tx) error {
			customer, named := int64(0), r.PathValue("customer")
			if order.Customer != 0 {
				named = fmt.Sprint(order.Customer)
			}
			if err := tx.QueryRow("select id from customers where (id = ? or handle = ?) and handle <> 'closed'", named, named).Scan(&customer); err != nil {
				status = http.StatusNotFound
				return nil
			}
			known := "select id, customer_id from orders where key = ? order by id limit 1"
			if k == oneEach {
				known = fmt.Sprintf("select id, customer_id from orders where key = ? and customer_id = %d", customer)
			}
			err := tx.QueryRow(known, key).Scan(&id, &of)
			if err == nil && of != customer && k == refusedElse {
				status = http.StatusUnprocessableEntity
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			made, err := tx.Exec("insert into orders (customer_id, note, amount, key) values (?, ?, ?, ?)", customer, order.Note, order.Amount, key)
			if err != nil {
				return err
			}
			if balance {
				if _, err := tx.Exec("update customers set balance = balance + ? where id = ?", order.Amount, customer); err != nil {
					return err
				}
			}
			id, err = made.LastInsertId()
			return err
		}) {
			return
		}
		if status != http.StatusCreated {
			says(w, status, `{"error":"not here"}`)
			return
		}
		says(w, status, fmt.Sprintf(`{"id":%d}`, id))
	})
	return serveBoth(t, routes), "sqlite://" + path
}

// TestInitFindsAnotherParent holds that a key which two parents share is tried where the path of the source names one that the database holds, and that
// a balance of one of them does not mind what is made under the other.
func TestInitFindsAnotherParent(t *testing.T) {
	t.Parallel()
	const tried = "✓ same-key-two-parents"
	for _, c := range []struct {
		service  keysUnder
		balance  bool
		customer string
		parents  string // of the file
		code     int
		says     string
	}{
		{oneForAll, false, "17", `parents: {Customer: ["17", "18"]}`, exitFinding, "same-key-two-parents"},
		{oneEach, false, "17", `parents: {Customer: ["17", "18"]}`, exitPass, tried},
		{refusedElse, false, "17", `parents: {Customer: ["17", "18"]}`, exitPass, tried},
		{oneForAll, false, "acme", `parents: {Customer: [acme, globex]}`, exitFinding, "same-key-two-parents"},
		{oneEach, false, "acme", `parents: {Customer: [acme, globex]}`, exitPass, tried},
		{oneEach, true, "17", `parents: {Customer: ["17", "18"]}`, exitPass, tried},
	} {
		t.Run(fmt.Sprintf("%s, customer %s, balance: %t", c.service, c.customer, c.balance), func(t *testing.T) {
			t.Parallel()
			address, database := c.service.open(t, c.balance)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl",
				fmt.Sprintf(`curl -H 'Idempotency-Key: k-1' -d '{"note": "two lamps", "amount": 1200}' %s/customers/%s/orders`, address, c.customer), "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, c.parents, said.err)
			require.Contains(t, text, "/customers/{{.Parent.Customer}}/orders")
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "same-key-two-parents", "same-form-two-parents", "sequential-replay", "distinct-twins")
			require.Equal(t, c.code, got.code, "%s\n%s", text, got)
			require.Contains(t, strings.Join(strings.Fields(got.out), " "), c.says)
		})
	}
}

// TestInitTakesNoParentThatIsNotGoneBy holds that a path which another customer can stand in, while the body says whose order it is, names no two
// parents: one key under both is one order.
func TestInitTakesNoParentThatIsNotGoneBy(t *testing.T) {
	t.Parallel()
	address, database := oneForAll.open(t, false)
	env := map[string]string{"DATABASE_URL": database}
	file, said := initiated(t, env, exitPass, "--curl",
		fmt.Sprintf(`curl -H 'Idempotency-Key: k-1' -d '{"customer_id": 17, "note": "two lamps", "amount": 1200}' %s/customers/17/orders`, address), "--db", database)
	require.NotContains(t, readFile(t, file), "parents:", said.err)
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "same-key-two-parents", "same-form-two-parents", "sequential-replay", "distinct-twins")
	require.Equal(t, exitPass, got.code, "%s", got)
}

// TestInitFindsAnotherParentOfAVariable holds that a variable of the path, for which a document has no value, stays the first parent.
func TestInitFindsAnotherParentOfAVariable(t *testing.T) {
	t.Parallel()
	address, database := oneForAll.open(t, false)
	env := map[string]string{"DATABASE_URL": database, "ORDERS_CUSTOMER_ID": "17"}
	document := writeFile(t, "orders.yaml", `openapi: 3.0.3
info: {title: Orders, version: "1"}
paths:
  /customers/{customerId}/orders:
    post:
      operationId: addOrder
      parameters:
        - {in: path, name: customerId, required: true, schema: {type: integer}}
        - {in: header, name: Idempotency-Key, required: true, schema: {type: string}}
      requestBody:
        content:
          application/json:
            schema: {type: object, required: [note, amount], properties: {note: {type: string}, amount: {type: integer}}}
      responses: {"201": {description: done}}
`)
	file, said := initiated(t, env, exitPass, "--openapi", document, "--url", address, "--db", database)
	text := readFile(t, file)
	require.Contains(t, text, `parents: {Customer: ["${ORDERS_CUSTOMER_ID:-100}", "18"]}`, said.err)
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "same-form-two-parents")
	require.Equal(t, exitFinding, got.code, "%s\n%s", text, got)
}
