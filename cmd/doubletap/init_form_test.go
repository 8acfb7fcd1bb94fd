package main

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counter is a web application with pages and no API, over a SQLite file: people sign in by a form, and orders are
// forms with a token of the session and a key, which are answered with a redirect to the order.
type counter struct {
	db     *sql.DB
	path   string // of the SQLite file
	url    string
	broken bool // a key is looked for first and stored later
	season string
}

const (
	counterUser     = "alice@example.com"
	counterPassword = "staple horse battery"
)

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{path: filepath.Join(t.TempDir(), "counter.db")}
	c.reopen()
	db, err := sql.Open("sqlite", "file:"+c.path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	_, err = db.Exec("create table orders (id integer primary key, form text, note text, amount integer)")
	require.NoError(t, err)
	c.db = db
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", c.door)
	mux.HandleFunc("POST /login", c.login)
	mux.HandleFunc("GET /orders/new", c.form)
	mux.HandleFunc("POST /orders", c.order)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// reopen ends all sessions.
func (c *counter) reopen() { c.season = strings.ToLower(rand.Text()) }

// token is that of the forms of a session.
func (c *counter) token(session string) string { return "token-" + c.season + "-of-" + session }

// here reports whether the client is signed in, and redirects others to the login page, as web pages do.
func (c *counter) here(w http.ResponseWriter, r *http.Request) bool {
	cookie, err := r.Cookie("session")
	if err != nil || cookie.Value != "signed-in-"+c.season {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return false
	}
	return true
}

func (c *counter) door(w http.ResponseWriter, _ *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: "visitor", Value: "visit-" + c.season})
	c.page(w, c.token("visitor"), `<input name="email"><input type="password" name="password">`)
}

func (c *counter) page(w http.ResponseWriter, token, rest string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><title>Counter</title><form method="post"><input type="hidden" name="csrf_token" value="%s">%s</form>`, token, rest)
}

func (c *counter) login(w http.ResponseWriter, r *http.Request) {
	visitor, err := r.Cookie("visitor")
	if err != nil || visitor.Value != "visit-"+c.season || r.PostFormValue("csrf_token") != c.token("visitor") {
		http.Error(w, "a stale form", http.StatusForbidden)
		return
	}
	if r.PostFormValue("email") != counterUser || r.PostFormValue("password") != counterPassword {
		http.Error(w, "nobody", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: "signed-in-" + c.season})
	http.Redirect(w, r, "/orders/new", http.StatusFound)
}

func (c *counter) form(w http.ResponseWriter, r *http.Request) {
	if c.here(w, r) {
		c.page(w, c.token("session"), `<input name="note"><input name="amount" value="12"><input type="hidden" name="idempotency_key" value="`+rand.Text()+`">`)
	}
}

func (c *counter) order(w http.ResponseWriter, r *http.Request) {
	if !c.here(w, r) {
		return
	}
	key, id := r.PostFormValue("idempotency_key"), 0
	if r.PostFormValue("csrf_token") != c.token("session") {
		http.Error(w, "a stale form", http.StatusForbidden)
		return
	}
	tx, err := c.db.Begin()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer tx.Rollback()
	if c.broken || tx.QueryRow("select id from orders where form = ?", key).Scan(&id) != nil {
		err = tx.QueryRow("insert into orders(form, note, amount) values (?, ?, ?) returning id", key, r.PostFormValue("note"), r.PostFormValue("amount")).Scan(&id)
	}
	if err != nil || tx.Commit() != nil {
		http.Error(w, "not stored", http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/orders/%d?created=1", id), http.StatusSeeOther)
}

// visit does what a browser does, and returns what it would record of it, as a HAR file.
func (c *counter) visit(t *testing.T) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	b := &browser{t: t, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	b.send("GET", c.url+"/login", nil)
	b.send("POST", c.url+"/login", url.Values{"csrf_token": {c.token("visitor")}, "email": {counterUser}, "password": {counterPassword}})
	b.send("GET", c.url+"/orders/new", nil)
	b.send("POST", c.url+"/orders", url.Values{"csrf_token": {c.token("session")}, "note": {"two lamps"}, "amount": {"12"}, "idempotency_key": {"key-of-the-form"}})
	text, err := json.Marshal(map[string]any{"log": map[string]any{"version": "1.2", "entries": b.entries}})
	require.NoError(t, err)
	return writeFile(t, "recorded.har", string(text))
}

// browser records what it sends and what it is answered.
type browser struct {
	t       *testing.T
	client  *http.Client
	entries []any
}

func (b *browser) send(method, address string, form url.Values) {
	request, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	request.Header.Set("User-Agent", "Browser")
	request.AddCookie(&http.Cookie{Name: "_ga", Value: "GA1.1.2.3"})
	var posted any
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		posted = map[string]any{"mimeType": "application/x-www-form-urlencoded", "text": form.Encode()}
	}
	answer, err := b.client.Do(request)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	require.Less(b.t, answer.StatusCode, 400, "%s %s: %s", method, address, body)
	sent := request.Header.Clone()
	b.entries = append(b.entries, map[string]any{
		"request":  map[string]any{"method": method, "url": address, "headers": pairs(sent), "postData": posted},
		"response": map[string]any{"status": answer.StatusCode, "headers": pairs(answer.Header), "content": map[string]any{"text": string(bytes.TrimSpace(body))}},
	})
}

func pairs(h http.Header) []map[string]string {
	var all []map[string]string
	for name, values := range h {
		for _, value := range values {
			all = append(all, map[string]string{"name": name, "value": value})
		}
	}
	return all
}

func (c *counter) env() map[string]string {
	return map[string]string{"DATABASE_URL": "sqlite://" + c.path}
}

// requireSound holds that a file makes a run that passes or finds what is broken, and gives no secret away.
func (c *counter) requireSound(t *testing.T, file string, env map[string]string, code int) {
	t.Helper()
	reports := t.TempDir()
	got := callWith(t.Context(), env, "run", "sequential-replay", "withheld-answer", "--reports", reports, "--target", file)
	require.Equal(t, code, got.code, "%s\n%s", got, readFile(t, file))
	for _, secret := range []string{counterPassword, "signed-in-" + c.season, c.token("session")} {
		require.NotContains(t, readFile(t, file), secret)
		if secret != c.token("session") { // which is good for nothing without its session
			requireNowhere(t, reports, secret)
		}
	}
}

// TestInitFollowsAFormThatRedirects takes the road from what a browser has recorded to a verdict: the login, the
// page with the form's token, and the redirect that names the order.
func TestInitFollowsAFormThatRedirects(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	recorded := c.visit(t)
	c.reopen() // what was recorded is good for nothing now
	_, err := c.db.Exec("delete from orders")
	require.NoError(t, err)
	file, got := initiated(t, c.env(), exitPass, "--har", recorded, "--db", c.env()["DATABASE_URL"])
	require.Contains(t, got.err, "sending one create, after the login and GET /orders/new: POST "+c.url+"/orders with a marker in /note\n")
	require.Contains(t, got.err, "it was answered 303; /note landed in orders.note")
	text := readFile(t, file)
	require.Contains(t, text, `first: {User: "${API_USER}", Password: "${API_PASSWORD}"}`)
	require.Contains(t, text, "        email: '{{.Principal.User}}'\n        password: '{{.Principal.Password}}'\n")
	require.Contains(t, text, `headers: {Cookie: "visitor={{.Login.Visitor}}"}`)
	require.Contains(t, text, `headers: {Cookie: "visitor={{.Login.Visitor}}; session={{.Login.Session}}"}`)
	require.NotContains(t, text, "API_COOKIE")
	require.Contains(t, text, "csrf_token: '{{.Prepared.CsrfToken}}'")
	require.Contains(t, text, "statuses: [303]\n    headers: {Location: \"^(?:https?://[^/?#]+)?/orders/([0-9]+)(?:[/?#]|$)\"}")
	require.Contains(t, text, `identity: {header: Location, pattern: "^(?:https?://[^/?#]+)?/orders/([0-9]+)(?:[/?#]|$)"} # of the created thing`)
	require.Contains(t, text, "no recorded answer sets them: _ga.")
	require.NotContains(t, text, counterUser)

	env := c.env()
	env["API_USER"], env["API_PASSWORD"] = counterUser, counterPassword
	got = callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "found at Location by ^(?:https?://[^/?#]+)?/orders/([0-9]+)(?:[/?#]|$)")
	c.requireSound(t, file, env, exitPass)
	c.broken = true
	c.requireSound(t, file, env, exitFinding)

	env["API_PASSWORD"] = "wrong"
	got = callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.out, "login[1] (POST /login) for the principal first was answered 403")
}

// TestInitFollowsAPastedForm does it with what a browser copies as a curl command: the page is the Referer's.
func TestInitFollowsAPastedForm(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	command := fmt.Sprintf(`curl '%[1]s/orders' -b 'session=signed-in-%[2]s' -H 'Referer: %[1]s/orders/new' --data-raw 'csrf_token=stale&note=two+lamps&amount=12&idempotency_key=7'`, c.url, c.season)
	file, got := initiated(t, c.env(), exitPass, "--curl", command, "--db", c.env()["DATABASE_URL"])
	require.Contains(t, got.err, "after GET /orders/new")
	text := readFile(t, file)
	require.Contains(t, text, `Cookie: "${API_COOKIE}"`)
	require.Contains(t, text, `extract: {CsrfToken: {html: "input[name=\"csrf_token\"]", attribute: value}}`)
	require.Contains(t, text, "the Referer of the command says so")
	require.NotContains(t, text, "API_CSRF_TOKEN")
	env := c.env()
	env["API_COOKIE"] = "session=signed-in-" + c.season
	c.requireSound(t, file, env, exitPass)

	stale := strings.ReplaceAll(command, c.season, "last-year")
	_, got = initiated(t, c.env(), exitPass, "--curl", stale, "--db", c.env()["DATABASE_URL"])
	require.Contains(t, got.err, "not proven: a step failed: operations.create_orders.prepare[0] (GET /orders/new) for intent i001 was answered 303, and there is no CsrfToken")
}
