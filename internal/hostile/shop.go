package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // the shop's database
)

// shopFile is the target file of a shop. Days replace parts of it.
const shopFile = `name: shop
base_url: URL
database: {url: "sqlite://DATABASE"}
MORE
operations:
  create:
    request: {path: /things, headers: {Authorization: "Bearer hunter22-in-the-file"}, body: {note: "{{.Intent.Marker}}", amount: 1}}
    key: {in: header}
    identity: /id
    rows: {query: "QUERY", identity: id}
`

// shopQuery finds what an intent made.
const shopQuery = "select id from things where note = :marker"

// shop is a service that does everything right: a row per key, and the same answer for the same key.
type shop struct {
	db    *sql.DB
	file  string // of its database
	url   string
	table string // as SQL has it
}

// openShop serves a shop for a day. An enemy answers in its place, if it wishes to: true says that it did.
func openShop(b *bench, enemy func(w http.ResponseWriter, r *http.Request) bool) (*shop, error) {
	return openShopWith(b, "things", enemy)
}

// openShopWith serves a shop whose table has a name of its own.
func openShopWith(b *bench, table string, enemy func(w http.ResponseWriter, r *http.Request) bool) (*shop, error) {
	s := &shop{file: b.path("shop.db"), table: quoted(table)}
	db, err := sql.Open("sqlite", s.file+"?_pragma=busy_timeout(3000)&_pragma=journal_mode(wal)")
	if err != nil {
		return nil, err
	}
	s.db = db
	if _, err := db.Exec("create table " + s.table + " (id integer primary key, note text, key text unique); create table lines (thing integer references " + s.table + ")"); err != nil {
		return nil, err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if enemy == nil || !enemy(w, r) {
			s.create(w, r)
		}
	}))
	s.url = server.URL
	b.wait = append(b.wait, func() {
		server.CloseClientConnections()
		go server.Close() // a handler of an enemy may never return
		_ = db.Close()
	})
	return s, nil
}

// quoted is a name as SQLite has it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// create answers a create, new or repeated, in the same way.
func (s *shop) create(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	id, err := s.row(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"id": %d}`, id)
}

// row makes the row of a request, or finds it.
func (s *shop) row(r *http.Request) (id int, err error) {
	var body struct{ Note string }
	content, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(content, &body)
	}
	if err != nil {
		return 0, err
	}
	key := r.Header.Get("Idempotency-Key")
	err = s.db.QueryRow("insert into "+s.table+" (note, key) values (?, ?) on conflict (key) do update set key = excluded.key returning id", body.Note, key).Scan(&id)
	return id, err
}

// target writes the target file of the shop, with replacements of its parts.
func (s *shop) target(b *bench, replace ...string) (string, error) {
	text := strings.NewReplacer(append(replace, "URL", s.url, "DATABASE", s.file, "MORE\n", "", "QUERY", shopQuery)...).Replace(shopFile)
	return b.write("given-target.yaml", text)
}

// runAt has the command run scenarios against the shop.
func (s *shop) runAt(b *bench, replace ...string) error {
	path, err := s.target(b, replace...)
	b.args = append([]string{"run", "--target", path, "--reports", b.path("reports"), "--seed", "1"}, scenariosOfADay...)
	return err
}

// scenariosOfADay are a control, a retry and a burst.
var scenariosOfADay = []string{"plain-create", "sequential-replay", "double-click"}

// quiet is a day whose shop is met by nothing but what its target file says.
func quiet(replace ...string) func(context.Context, *bench) error {
	return func(_ context.Context, b *bench) error {
		s, err := openShop(b, nil)
		if err != nil {
			return err
		}
		return s.runAt(b, replace...)
	}
}
