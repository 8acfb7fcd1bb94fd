package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// office is an API of a user's own, over a SQLite file, that takes more than one request to create something:
// people log in, customers come before their orders, and forms have tokens that are good for one submission.
type office struct {
	db     *sql.DB
	path   string // of the SQLite file
	url    string
	broken bool // a token is looked at first and taken away later
	logins atomic.Int64
	asked  atomic.Int64
	refuse func(w http.ResponseWriter, r *http.Request) bool // nil: nothing besides
}

// The passwords of the office, and what it makes of them.
const (
	officePassword = "correct horse battery"
	officeSession  = "session-of-"
	officeToken    = "bearer-of-"
)

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{path: filepath.Join(t.TempDir(), "office.db")}
	db, err := sql.Open("sqlite", "file:"+o.path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	db.SetMaxOpenConns(4)
	t.Cleanup(func() { db.Close() })
	for _, table := range []string{
		"create table customers (id integer primary key, owner text, note text)",
		"create table tokens (token text primary key, owner text)",
		"create table orders (id integer primary key, customer integer, note text, amount integer)",
		"create table bookings (id integer primary key autoincrement, note text, status text, seats integer not null default 0)",
	} {
		_, err = db.Exec(table)
		require.NoError(t, err)
	}
	o.db = db
	o.url = serveBoth(t, o.routes())
	return o
}

func (o *office) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /received", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, `{"n":%d}`, o.asked.Load()) })
	mux.HandleFunc("GET /login", o.loginForm)
	mux.HandleFunc("POST /login", o.login)
	mux.HandleFunc("POST /customers", o.createCustomer)
	mux.HandleFunc("DELETE /customers/{id}", o.deleteCustomer)
	mux.HandleFunc("GET /orders/new", o.form)
	mux.HandleFunc("POST /customers/{id}/orders", o.order)
	mux.HandleFunc("POST /bookings", o.book)
	mux.HandleFunc("GET /bookings", o.bookings)
	mux.HandleFunc("PATCH /bookings/{id}", o.patch)
	mux.HandleFunc("DELETE /bookings/{id}", o.unbook)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			o.asked.Add(1)
		}
		if o.refuse == nil || !o.refuse(w, r) {
			mux.ServeHTTP(w, r)
		}
	})
}

func say(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, format, args...)
}

func (o *office) loginForm(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `<form method="post"><input type="hidden" name="csrf" value="csrf &amp; more"><input name="user"></form>`)
}

func (o *office) login(w http.ResponseWriter, r *http.Request) {
	var said struct{ User, Password, Csrf string }
	if json.NewDecoder(r.Body).Decode(&said); said.Password != officePassword || said.Csrf != "csrf & more" {
		say(w, http.StatusUnauthorized, `{"error":"%s is not known by %s"}`, said.User, said.Password)
		return
	}
	o.logins.Add(1)
	http.SetCookie(w, &http.Cookie{Name: "theme", Value: "dark"})
	http.SetCookie(w, &http.Cookie{Name: "session", Value: officeSession + said.User, MaxAge: 60})
	say(w, http.StatusOK, `{"access_token":"%s%s"}`, officeToken, said.User)
}

// who tells who sends a request, by the bearer or the session; empty: nobody.
func (o *office) who(w http.ResponseWriter, r *http.Request) string {
	who, known := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "+officeToken)
	if cookie, err := r.Cookie("session"); err == nil && !known {
		who, known = strings.CutPrefix(cookie.Value, officeSession)
	}
	if !known {
		say(w, http.StatusUnauthorized, `{"error":"log in first"}`)
		return ""
	}
	return who
}

func (o *office) createCustomer(w http.ResponseWriter, r *http.Request) {
	who := o.who(w, r)
	var said struct{ Name string }
	if who == "" || json.NewDecoder(r.Body).Decode(&said) != nil {
		return
	}
	id := 0
	o.db.QueryRow("insert into customers(owner, note) values (?, ?) returning id", who, said.Name).Scan(&id)
	w.Header().Set("Location", fmt.Sprintf("/customers/%d", id))
	w.WriteHeader(http.StatusCreated)
}

func (o *office) deleteCustomer(w http.ResponseWriter, r *http.Request) {
	if o.who(w, r) == "" {
		return
	}
	o.db.Exec("delete from customers where id = ?", r.PathValue("id"))
	w.WriteHeader(http.StatusNoContent)
}

func (o *office) form(w http.ResponseWriter, r *http.Request) {
	who := o.who(w, r)
	if who == "" {
		return
	}
	token := rand.Text()
	o.db.Exec("insert into tokens(token, owner) values (?, ?)", token, who)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<!doctype html><form><input type=hidden name=token value="%s"><input name=note></form>`, token)
}

func (o *office) order(w http.ResponseWriter, r *http.Request) {
	who := o.who(w, r)
	var said struct {
		Note, Token string
		Amount      int
	}
	if who == "" || json.NewDecoder(r.Body).Decode(&said) != nil {
		return
	}
	if said.Token == "" {
		say(w, http.StatusUnprocessableEntity, `{"error":"a form without its token"}`)
		return
	}
	owner := ""
	if o.db.QueryRow("select owner from customers where id = ?", r.PathValue("id")).Scan(&owner); owner != who {
		say(w, http.StatusForbidden, `{"error":"not your customer"}`)
		return
	}
	id, err := o.submit(r.Context(), said.Token, who, r.PathValue("id"), said.Note, said.Amount)
	if err != nil {
		say(w, http.StatusConflict, `{"error":"this form was submitted already"}`)
		return
	}
	say(w, http.StatusCreated, `{"id":%d}`, id)
}

// submit takes a token and makes an order of it: in one piece, or with a gap.
func (o *office) submit(ctx context.Context, token, who, customer, note string, amount int) (id int, err error) {
	if o.broken {
		if err := o.db.QueryRow("select 1 from tokens where token = ? and owner = ?", token, who).Scan(&id); err != nil {
			return 0, err
		}
		time.Sleep(10 * time.Millisecond) // its work: a burst is inside by then, however fast the disk
		o.db.Exec("delete from tokens where token = ?", token)
		err = o.db.QueryRow("insert into orders(customer, note, amount) values (?, ?, ?) returning id", customer, note, amount).Scan(&id)
		return id, err
	}
	tx, err := o.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if err := tx.QueryRow("delete from tokens where token = ? and owner = ? returning 1", token, who).Scan(&id); err != nil {
		return 0, err
	}
	if err := tx.QueryRow("insert into orders(customer, note, amount) values (?, ?, ?) returning id", customer, note, amount).Scan(&id); err != nil {
		return 0, err
	}
	return id, tx.Commit()
}

func (o *office) book(w http.ResponseWriter, r *http.Request) {
	var said struct{ Note string }
	json.NewDecoder(r.Body).Decode(&said)
	id := 0
	o.db.QueryRow("insert into bookings(note, status) values (?, 'open') returning id", said.Note).Scan(&id)
	say(w, http.StatusCreated, `{"booking":{"id":%d,"open":true}}`, id)
}

// bookings lists those with a note, to the user who is logged in.
func (o *office) bookings(w http.ResponseWriter, r *http.Request) {
	if o.who(w, r) == "" {
		return
	}
	var ids []string
	rows, err := o.db.Query("select id from bookings where note = ?", r.URL.Query().Get("note"))
	if err != nil {
		say(w, http.StatusInternalServerError, `{}`)
		return
	}
	defer rows.Close()
	for id := 0; rows.Next(); {
		rows.Scan(&id)
		ids = append(ids, fmt.Sprintf(`{"id":%d}`, id))
	}
	say(w, http.StatusOK, `[%s]`, strings.Join(ids, ","))
}

// patch sets a status, or adds seats.
func (o *office) patch(w http.ResponseWriter, r *http.Request) {
	var said struct {
		Status string
		Add    int
	}
	json.NewDecoder(r.Body).Decode(&said)
	id := 0
	err := o.db.QueryRow("update bookings set status = coalesce(nullif(?, ''), status), seats = seats + ? where id = ? returning id", said.Status, said.Add, r.PathValue("id")).Scan(&id)
	if err != nil {
		say(w, http.StatusNotFound, `{"error":"no such booking"}`)
		return
	}
	say(w, http.StatusOK, `{"id":%d}`, id)
}

func (o *office) unbook(w http.ResponseWriter, r *http.Request) {
	gone, err := o.db.Exec("delete from bookings where id = ?", r.PathValue("id"))
	if err != nil {
		say(w, http.StatusInternalServerError, `{}`)
		return
	}
	if n, _ := gone.RowsAffected(); n == 0 {
		say(w, http.StatusNotFound, `{"error":"no such booking"}`)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// count counts the rows of a table.
func (o *office) count(t *testing.T, table string) int {
	n := 0
	require.NoError(t, o.db.QueryRow("select count(*) from "+table).Scan(&n))
	return n
}

// trial makes a trial of the office with a target file.
func (o *office) trial(t *testing.T, file string, args ...string) trial {
	return trial{file: file, args: args, reports: t.TempDir(), env: map[string]string{
		"OFFICE_URL": o.url, "OFFICE_DATABASE": "sqlite://" + o.path, "OFFICE_PASSWORD": officePassword, "OFFICE_CSRF": "csrf & more",
	}}
}

// formFile is a target file for the office's orders, which are forms with tokens.
const formFile = `name: office
base_url: ${OFFICE_URL}
database: {url: "${OFFICE_DATABASE}"}
principals:
  alice: {User: alice, Password: "${OFFICE_PASSWORD}"}
  bob: {User: bob, Password: "${OFFICE_PASSWORD}"}
received: {path: /received, pointer: /n}
login:
  - request: {method: GET, path: /login}
    take: {Csrf: {html: "input[name=csrf]", attribute: value}}
  - request: {path: /login, body: {user: "{{.Principal.User}}", password: "{{.Principal.Password}}", csrf: "{{.Login.Csrf}}"}}
    statuses: [200]
    take:
      Token: {json: /access_token}
      Session: {cookie: session}
contract:
  level: dedup-only
  existing: {statuses: [409]}
operations:
  order:
    prepare:
      - request: {path: /customers, headers: {Authorization: "Bearer {{.Login.Token}}"}, body: {name: "{{.Intent.Marker}}"}}
        take: {Customer: {pattern: "Location: /customers/([0-9]+)"}}
    request:
      path: /customers/{{.Prepared.Customer}}/orders
      headers: {Cookie: "session={{.Login.Session}}"}
      body: {note: "{{.Intent.Marker}}", amount: 1}
    key:
      in: body
      name: token
      required: true
      issued:
        - request: {method: GET, path: /orders/new, headers: {Cookie: "session={{.Login.Session}}"}}
          take: {Key: {html: "input[name=token]", attribute: value}}
    alter: {amount: 2}
    identity: /id
    rows: {query: select id from orders where note = :marker, identity: id}
    cleanup:
      - request: {method: DELETE, path: "/customers/{{.Prepared.Customer}}", headers: {Authorization: "Bearer {{.Login.Token}}"}}
`
