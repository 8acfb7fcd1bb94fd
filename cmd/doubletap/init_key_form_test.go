package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// keysOfAForm serves orders whose keys have one form. What is no key is refused, or taken for none.
type keysOfAForm struct {
	form    string
	ignores bool // what is no key
	inBody  bool // the key is the member client_ref
}

// open starts the service. The broken one looks for the key and then makes the order.
func (k keysOfAForm) open(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
		"create table orders (id integer primary key, note text not null, amount integer not null); create table keys (key text primary key, order_id integer)")
	db.SetMaxOpenConns(1)
	form := regexp.MustCompile(k.form)
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			Note      string
			Amount    int
			ClientRef string `json:"client_ref"`
		}
		_ = json.NewDecoder(r.Body).Decode(&order)
		key := r.Header.Get("Idempotency-Key")
		if k.inBody {
			key = order.ClientRef
		}
		isKey := form.MatchString(key)
		if !isKey && !k.ignores {
			says(w, http.StatusBadRequest, fmt.Sprintf(`{"error":"%q is no key"}`, key))
			return
		}
		known := func(in interface {
			QueryRow(string, ...any) *sql.Row
		}) (id int64, err error) {
			err = in.QueryRow("select order_id from keys where key = ?", key).Scan(&id)
			return id, err
		}
		var id int64
		if broken && isKey {
			var err error
			if id, err = known(db); err == nil {
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		if inTransaction(w, db, func(tx *sql.Tx) (err error) {
			if !broken && isKey {
				if id, err = known(tx); !errors.Is(err, sql.ErrNoRows) {
					return err
				}
			}
			err = tx.QueryRow("insert into orders (note, amount) values (?, ?) returning id", order.Note, order.Amount).Scan(&id)
			if err == nil && isKey {
				_, err = tx.Exec("insert or ignore into keys values (?, ?)", key, id)
			}
			return err
		}) {
			says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
		}
	})), "sqlite://" + path
}

// TestInitOfKeysThatHaveAForm holds that a key has the form of the source's where the target takes no other, and only there.
func TestInitOfKeysThatHaveAForm(t *testing.T) {
	t.Parallel()
	const body = `-d '{"note": "two lamps", "amount": 1200}' URL/orders`
	for name, c := range map[string]struct {
		keysOfAForm
		curl, line string
	}{
		"a ULID": {
			keysOfAForm{form: `^[0-7][0-9A-HJKMNP-TV-Z]{25}$`},
			`curl -H 'Idempotency-Key: 01HZX3V9K8Q2M5N7P4R6S8T0WY' ` + body, "key: {in: header, name: Idempotency-Key, required: true, like: 01HZX3V9K8Q2M5N7P4R6S8T0WY}",
		},
		"what is no key is taken for none": {
			keysOfAForm{form: `^ik_[0-9a-f]{24}$`, ignores: true},
			`curl -H 'Idempotency-Key: ik_4f9a0c2b7d1e4f9a0c2b7d1e' ` + body, "key: {in: header, name: Idempotency-Key, like: ik_4f9a0c2b7d1e4f9a0c2b7d1e}",
		},
		"in the body": {
			keysOfAForm{form: `^[1-9][0-9]{11}$`, inBody: true},
			`curl -d '{"note": "two lamps", "amount": 1200, "client_ref": "483920175563"}' URL/orders`, `like: "483920175563"}`,
		},
		"any": {
			keysOfAForm{form: `^.+$`},
			`curl -H 'Idempotency-Key: 01HZX3V9K8Q2M5N7P4R6S8T0WY' ` + body, "key: {in: header, name: Idempotency-Key, required: true}",
		},
	} {
		for _, broken := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, broken: %t", name, broken), func(t *testing.T) {
				t.Parallel()
				address, database := c.open(t, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", strings.ReplaceAll(c.curl, "URL", address), "--db", database)
				require.Contains(t, readFile(t, file), c.line, said.err)
				reports := t.TempDir()
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", reports, "--seed", "1", "burst-same-key", "sequential-replay", "key-case", "distinct-twins")
				code := exitPass
				if broken {
					code = exitFinding
				}
				require.Equal(t, code, got.code, "%s\n%s", readFile(t, file), got)
				if name != "a ULID" {
					return
				}
				require.Contains(t, got.out, "key.like")
				if broken {
					env["ORDERS_URL"] = address
					code, out := script(t, exported(t, filepath.Join(onlyRun(t, reports), rundir.FindingsName, "F1"), "curl", env), env)
					require.Equal(t, exitFinding, code, out)
				}
			})
		}
	}
}

// TestInitOfAFormThatADocumentNames holds that a key keeps the form that an OpenAPI document gives it, where what is no key is taken for none: nothing
// was refused, so that no key of another form is tried instead.
func TestInitOfAFormThatADocumentNames(t *testing.T) {
	t.Parallel()
	address, database := keysOfAForm{form: `^ik_[0-9a-f]{24}$`, ignores: true}.open(t, false)
	document := writeFile(t, "orders.yaml", `openapi: 3.0.3
info: {title: Orders, version: "1"}
paths:
  /orders:
    post:
      operationId: addOrder
      parameters:
        - {in: header, name: Idempotency-Key, schema: {type: string, pattern: "^ik_[0-9a-f]{24}$"}}
      requestBody:
        content:
          application/json:
            schema: {type: object, required: [note, amount], properties: {note: {type: string}, amount: {type: integer}}}
      responses: {"201": {description: done}}
`)
	file, said := initiated(t, nil, exitPass, "--openapi", document, "--url", address, "--db", database)
	require.Contains(t, readFile(t, file), "key: {in: header, name: Idempotency-Key, like: ik_", said.err)
	requireRepeated(t, map[string]string{"DATABASE_URL": database}, file, exitPass, "✓ sequential-replay")
}
