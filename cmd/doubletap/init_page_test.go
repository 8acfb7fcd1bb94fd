package main

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// lobby is a form that anybody may send, over a SQLite file: its page gives a session and hides an id in each rendering, under which
// an order is made once. A strict one takes only ids that it has hidden in a page of the session. A closed one shows its page to
// everybody, and takes orders only of those who have signed in.
type lobby struct {
	strict, closed bool
	path, url      string
	mu             sync.Mutex
	hidden         map[string]string // id of a form: the session that it was shown to
}

func newLobby(t *testing.T, strict, closed bool) *lobby {
	t.Helper()
	l := &lobby{strict: strict, closed: closed, path: filepath.Join(t.TempDir(), "lobby.db"), hidden: map[string]string{}}
	db, err := sql.Open("sqlite", "file:"+l.path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	_, err = db.Exec("create table orders (id integer primary key, form_id text unique, note text, amount integer)")
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/new", func(w http.ResponseWriter, r *http.Request) {
		session, id := rand.Text(), rand.Text()
		if c, err := r.Cookie("session"); err == nil {
			session = c.Value
		}
		l.mu.Lock()
		l.hidden[id] = session
		l.mu.Unlock()
		http.SetCookie(w, &http.Cookie{Name: "session", Value: session})
		fmt.Fprintf(w, `<form method="post"><input type=hidden name=csrf_token value="of-%s"><input type=hidden name=form_id value="%s"><input type=hidden name=version value=3><input name=note></form>`, session, id)
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		session, err := r.Cookie("session")
		if err != nil || r.PostFormValue("csrf_token") != "of-"+session.Value || r.PostFormValue("version") != "3" {
			http.Error(w, "a stale form", http.StatusBadRequest)
			return
		}
		if l.closed && session.Value != "member" {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		form := r.PostFormValue("form_id")
		l.mu.Lock()
		of := l.hidden[form]
		l.mu.Unlock()
		if l.strict && of != session.Value {
			http.Error(w, "an unknown form", http.StatusBadRequest)
			return
		}
		var id int
		_, err = db.Exec("insert into orders(form_id, note, amount) values (?, ?, ?) on conflict do nothing", form, r.PostFormValue("note"), r.PostFormValue("amount"))
		if err != nil || db.QueryRow("select id from orders where form_id = ?", form).Scan(&id) != nil {
			http.Error(w, "not stored", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/orders/%d", id), http.StatusSeeOther)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	l.url = server.URL
	// A browser has sent this form before: what it hides is taken.
	_, err = db.Exec("insert into orders(form_id, note, amount) values ('SENTBEFORE12', 'two lamps', 12)")
	require.NoError(t, err)
	return l
}

// TestInitTakesAFormFromItsPage copies a form of a browser that was sent before: its file needs no cookie of that browser where the page
// gives one to everybody, and sends no hidden value twice that each page has another of.
func TestInitTakesAFormFromItsPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strict, closed bool
		says           []string
		cookie, id     string
	}{
		"any id":           {id: "form_id: '{{.Intent.Reference}}'", cookie: "session={{.Prepared.Session}}"},
		"ids of the page":  {strict: true, id: "in: body\n      name: form_id\n      required: true\n      issued:", cookie: "session={{.Prepared.Session}}", says: []string{"without the cookie of the browser, and with what its page hides in /form_id"}},
		"only for members": {closed: true, id: "form_id: '{{.Intent.Reference}}'", cookie: "${API_COOKIE}", says: []string{"trying with the cookie of the browser\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLobby(t, c.strict, c.closed)
			env := map[string]string{"DATABASE_URL": "sqlite://" + l.path}
			command := fmt.Sprintf(`curl '%[1]s/orders' -b 'session=member; _ga=GA1.1' -H 'Referer: %[1]s/orders/new' --data-raw 'csrf_token=of-member&form_id=SENTBEFORE12&version=3&note=two+lamps&amount=12'`, l.url)
			file, got := initiated(t, env, exitPass, "--curl", command, "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, c.id, got.err)
			require.Contains(t, text, "note: '{{.Intent.Marker}}'")
			require.Contains(t, text, `version: "3"`)
			require.Contains(t, text, c.cookie)
			require.NotContains(t, text, "member")
			for _, said := range c.says {
				require.Contains(t, got.err, said)
			}
			if c.closed {
				env["API_COOKIE"] = "session=member"
			}
			got = callWith(t.Context(), env, "run", "sequential-replay", "plain-create", "--reports", t.TempDir(), "--target", file)
			require.Equal(t, exitPass, got.code, "%s\n%s", got, text)
		})
	}
}
