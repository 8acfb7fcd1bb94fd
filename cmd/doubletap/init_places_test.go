package main

import (
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// taker makes one order for each key, which it takes from anywhere in a request.
type taker struct {
	db       *sql.DB
	takes    func(r *http.Request) string
	again    int  // status of a repetition
	mismatch int  // to another body under a key; 0: as a repetition
	replaces bool // another body replaces the first one
	needs    bool // a request without a key is refused

	mu     sync.Mutex
	broken bool            // that a key is taken is written down too late: after the next request has looked
	late   map[string]bool // keys that are taken, which nobody has written down
}

func newTaker(t *testing.T, k *taker) (address, database string) {
	t.Helper()
	db, file := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)", "create table orders (id integer primary key, note text, amount integer); create table taken (key text primary key, id integer, body text)")
	db.SetMaxOpenConns(1)
	k.db, k.late = db, map[string]bool{}
	return serveBoth(t, k), "sqlite://" + file
}

func (k *taker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Note   string
		Amount int
	}
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		says(w, http.StatusBadRequest, `{"code":"body"}`)
		return
	}
	key, body := k.takes(r), fmt.Sprint(order)
	if key == "" && k.needs {
		says(w, http.StatusBadRequest, `{"code":"key_missing"}`)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var id int64
	var first string
	known := key != "" && k.db.QueryRow("select id, body from taken where key = ?", key).Scan(&id, &first) == nil
	if known && !(k.broken && k.late[key]) {
		switch {
		case first == body:
			says(w, k.again, fmt.Sprintf(`{"id":%d,"note":%q}`, id, order.Note))
		case k.replaces:
			k.db.Exec("update orders set note = ?, amount = ? where id = ?", order.Note, order.Amount, id)
			k.db.Exec("update taken set body = ? where key = ?", body, key)
			says(w, k.again, fmt.Sprintf(`{"id":%d,"note":%q}`, id, order.Note))
		case k.mismatch != 0:
			says(w, k.mismatch, `{"code":"key_reused"}`)
		default:
			k.db.QueryRow("select note from orders where id = ?", id).Scan(&order.Note)
			says(w, k.again, fmt.Sprintf(`{"id":%d,"note":%q}`, id, order.Note))
		}
		return
	}
	k.late[key] = !known
	made, err := k.db.Exec("insert into orders(note, amount) values (?, ?)", order.Note, order.Amount)
	if err == nil {
		id, _ = made.LastInsertId()
		_, err = k.db.Exec("insert or replace into taken values (?, ?, ?)", key, id, body)
	}
	if err != nil {
		says(w, http.StatusInternalServerError, `{}`)
		return
	}
	says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d,"note":%q}`, id, order.Note))
}

func cookieOf(name string) func(*http.Request) string {
	return func(r *http.Request) string {
		if c, err := r.Cookie(name); err == nil {
			return c.Value
		}
		return ""
	}
}

// TestInitFindsAKeyThatNoNameTells holds that a key of the client is found in a cookie, a path and a parameter, and that runs with the file
// tell the correct service from the one that writes down too late that a key is taken.
func TestInitFindsAKeyThatNoNameTells(t *testing.T) {
	t.Parallel()
	const uuid = "0d9a1c1e-8f5c-4a4e-9d2e-0c6c1f6f7a11"
	atEnd := func(r *http.Request) string { return path.Base(r.URL.Path) }
	parameter := func(name string) func(*http.Request) string {
		return func(r *http.Request) string { return r.URL.Query().Get(name) }
	}
	for name, c := range map[string]struct {
		taker     *taker
		curl, key string
		env       map[string]string
	}{
		"in a cookie": {
			taker: &taker{takes: cookieOf("order_token"), again: 200, mismatch: 409},
			curl:  `-b 'order_token=` + uuid + `' URL/orders`, key: "key: {in: cookie, name: order_token",
		},
		"in a cookie beside others": {
			taker: &taker{takes: cookieOf("order_token"), again: 409, needs: true},
			curl:  `-b 'session=abc; order_token=` + uuid + `; _ga=GA1.1.7' URL/orders`, key: "key: {in: cookie, name: order_token",
			env: map[string]string{"API_COOKIE": "session=abc; _ga=GA1.1.7"},
		},
		"in a cookie, replaces": {
			taker: &taker{takes: cookieOf("order_token"), again: 200, replaces: true},
			curl:  `-b 'order_token=` + uuid + `' URL/orders`, key: "key: {in: cookie, name: order_token",
		},
		"in the path": {
			taker: &taker{takes: atEnd, again: 200, mismatch: 422},
			curl:  `URL/orders/` + uuid, key: "key: {in: path, required: true, format: uuid}",
		},
		"in the path, replaces": {
			taker: &taker{takes: atEnd, again: 200, replaces: true},
			curl:  `URL/orders/` + uuid, key: "key: {in: path, required: true, format: uuid}",
		},
		"in the path, a ULID": {
			taker: &taker{takes: atEnd, again: 200},
			curl:  `URL/orders/01HZX3V9K8Q2M4N6P8R0S2T4V6`, key: "key: {in: path, required: true}",
		},
		"in the path, before a word": {
			taker: &taker{takes: func(r *http.Request) string { return path.Base(path.Dir(r.URL.Path)) }, again: 200, mismatch: 409},
			curl:  `URL/orders/` + uuid + `/submit`, key: "key: {in: path, required: true, format: uuid}",
		},
		"in a parameter": {
			taker: &taker{takes: parameter("request_id"), again: 200, mismatch: 409},
			curl:  `'URL/orders?request_id=` + uuid + `'`, key: "key: {in: query, name: request_id",
		},
		"in a parameter, replaces": {
			taker: &taker{takes: parameter("rid"), again: 200, replaces: true},
			curl:  `'URL/orders?lang=de&rid=` + uuid + `'`, key: "key: {in: query, name: rid",
		},
		"in a parameter like a secret": {
			taker: &taker{takes: parameter("order_token"), again: 409},
			curl:  `'URL/orders?lang=de&order_token=` + uuid + `'`, key: "key: {in: query, name: order_token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := newTaker(t, c.taker)
			env := map[string]string{"DATABASE_URL": database}
			for name, value := range c.env {
				env[name] = value
			}
			curl := `curl -d '{"note": "a lamp", "amount": 1200}' ` + strings.ReplaceAll(c.curl, "URL", address)
			file, said := initiated(t, map[string]string{"DATABASE_URL": database}, exitPass, "--curl", curl, "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, c.key, "%s\n%s", said.err, text)
			require.NotContains(t, text, "natural_key")
			require.NotContains(t, text, uuid)
			reports := t.TempDir()
			run := func(code int) string {
				t.Helper()
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", reports, "--seed", "1", "plain-create", "sequential-replay", "distinct-twins")
				require.Equal(t, code, got.code, "%s\n%s", text, got)
				return got.out
			}
			run(exitPass)
			c.taker.mu.Lock()
			c.taker.broken = true
			c.taker.mu.Unlock()
			found := run(exitFinding)
			if c.env == nil {
				return
			}
			require.Contains(t, found, "Cookie: ***; order_token=")
			script := filepath.Join(t.TempDir(), "again.sh")
			got := callWith(t.Context(), env, "export", "last", "--reports", reports, "--as", "curl", "-o", script)
			require.Equal(t, exitPass, got.code, got)
			require.Contains(t, readFile(t, script), `--header "Cookie: ${API_COOKIE}; order_token=${key}"`)
			requireNowhere(t, reports, "session=abc")
		})
	}
}

// stall is a form whose page gives a token to each who asks for it, in a hidden field or a cookie, and makes one order for each token.
type stall struct {
	db     *sql.DB
	used   int    // status of a request with a used token; 303: leads to the first order
	cookie bool   // the token is in a cookie, too, and only there is it looked at
	csrf   bool   // there is a token of the session beside it
	field  string // name of the hidden field

	mu     sync.Mutex
	broken bool // that a token is used is written down behind the order: after the next request has looked
	late   map[string]bool
}

func newStall(t *testing.T, d *stall) (address, database string) {
	t.Helper()
	db, file := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)", "create table orders (id integer primary key, note text, amount integer); create table tokens (token text primary key, session text, led_to integer)")
	db.SetMaxOpenConns(1)
	d.db, d.late = db, map[string]bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/new", d.page)
	mux.HandleFunc("POST /orders", d.order)
	return serveBoth(t, mux), "sqlite://" + file
}

func (d *stall) page(w http.ResponseWriter, r *http.Request) {
	session, token := cookieOf("session")(r), rand.Text()
	if session == "" {
		session = rand.Text()
	}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: session})
	if d.cookie {
		http.SetCookie(w, &http.Cookie{Name: "order_token", Value: token})
	}
	if _, err := d.db.Exec("insert into tokens(token, session) values (?, ?)", token, session); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, `<!doctype html><form method=post action=/orders><input name=note><input name=amount>`)
	if d.csrf {
		fmt.Fprintf(w, `<input type=hidden name=csrf_token value="csrf-of-%s">`, session)
	}
	if !d.cookie {
		fmt.Fprintf(w, `<input type=hidden name=%s value="%s">`, d.field, token)
	}
}

func (d *stall) order(w http.ResponseWriter, r *http.Request) {
	session, token := cookieOf("session")(r), r.PostFormValue(d.field)
	if d.cookie {
		token = cookieOf("order_token")(r)
	}
	if d.csrf && r.PostFormValue("csrf_token") != "csrf-of-"+session {
		http.Error(w, "a stale form", http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var id sql.NullInt64
	if d.db.QueryRow("select led_to from tokens where token = ? and session = ?", token, session).Scan(&id) != nil {
		http.Error(w, "an unknown form", http.StatusForbidden)
		return
	}
	if id.Valid && !(d.broken && d.late[token]) {
		if d.used == http.StatusSeeOther {
			http.Redirect(w, r, fmt.Sprintf("/orders/%d", id.Int64), http.StatusSeeOther)
			return
		}
		http.Error(w, "this form was sent before", d.used)
		return
	}
	d.late[token] = !id.Valid
	made, err := d.db.Exec("insert into orders(note, amount) values (?, ?)", r.PostFormValue("note"), r.PostFormValue("amount"))
	if err == nil {
		id.Int64, _ = made.LastInsertId()
		_, err = d.db.Exec("update tokens set led_to = ? where token = ?", id.Int64, token)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/orders/%d", id.Int64), http.StatusSeeOther)
}

// TestInitTakesTheTokenOfAFormForItsKey holds that a token which a page gives, and which is good for one creation, is the key that the target
// issues, and that runs with the file tell the correct service from the one that marks the token as used too late.
func TestInitTakesTheTokenOfAFormForItsKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stall *stall
		form  string
		key   string
	}{
		"refused":                {&stall{used: 409, field: "form_token"}, "form_token=USEDBEFORE12&note=two+lamps&amount=12", "in: body\n      name: form_token\n"},
		"refused as not allowed": {&stall{used: 403, field: "authenticity_token"}, "authenticity_token=USEDBEFORE12&note=two+lamps&amount=12", "in: body\n      name: authenticity_token\n"},
		"beside one of the session": {&stall{used: 422, csrf: true, field: "form_token"}, "csrf_token=csrf-of-member&form_token=USEDBEFORE12&note=two+lamps&amount=12",
			"in: body\n      name: form_token\n"},
		"leads to the first": {&stall{used: 303, field: "_token"}, "_token=USEDBEFORE12&note=two+lamps&amount=12", "in: body\n      name: _token\n"},
		"in a cookie of the page": {&stall{used: 409, csrf: true, cookie: true}, "csrf_token=csrf-of-member&note=two+lamps&amount=12",
			"in: cookie\n      name: order_token\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := newStall(t, c.stall)
			env := map[string]string{"DATABASE_URL": database}
			command := fmt.Sprintf(`curl '%[1]s/orders' -b 'session=member; order_token=USEDBEFORE12' -H 'Referer: %[1]s/orders/new' --data-raw '%[2]s'`, address, c.form)
			file, said := initiated(t, env, exitPass, "--curl", command, "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, c.key, "%s\n%s", said.err, text)
			require.Contains(t, text, "      issued: #")
			require.NotContains(t, text, "natural_key")
			run := func(code int) {
				t.Helper()
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, code, got.code, "%s\n%s", text, got)
			}
			run(exitPass)
			c.stall.mu.Lock()
			c.stall.broken = true
			c.stall.mu.Unlock()
			run(exitFinding)
		})
	}
}
