// Package libraryuse uses the library as a program does that has a database driver of its own: nothing here may import a
// driver of doubletap's.
package libraryuse

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	_ "github.com/glebarez/go-sqlite" // registers the name "sqlite", which no other package of this program may
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap"
	"github.com/doubletap-harness/doubletap/checker"
)

const target = `name: orders
base_url: http://orders.test
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header, required: true}
    identity: /id
    rows: {query: select id from orders where note = :marker, identity: id}
`

// orders looks the key up and then inserts. With the index the database lets one of two requests through.
func orders(db *sql.DB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, id := r.Header.Get("Idempotency-Key"), int64(0)
		var body struct{ Note string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		if db.QueryRow("select id from orders where key = ?", key).Scan(&id) != nil {
			_, err := db.Exec("insert into orders(key, note) values (?, ?) on conflict do nothing", key, body.Note)
			if err == nil {
				err = db.QueryRow("select id from orders where key = ?", key).Scan(&id)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]int64{"id": id})
	})
}

func TestAProgramHasADriverOfItsOwnThatIsCalledSQLite(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "orders.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec("create table orders (id integer primary key, key text unique, note text)")
	require.NoError(t, err)
	report, err := doubletap.Run(t.Context(), doubletap.Config{
		Target: "orders.yaml", TargetText: target, Handler: orders(db), DB: db,
		Scenarios: []string{"plain-create", "sequential-replay"}, Seed: 7,
	})
	require.NoError(t, err)
	require.Equal(t, checker.Pass, report.Verdict, "%+v", report.Results)
	require.Len(t, report.Results, 2)
	require.Equal(t, uint64(7), report.Seed)
}

func TestWhatIsNotLinkedIsNamed(t *testing.T) {
	t.Parallel()
	for target, says := range map[string]string{
		"builtin:unique-key": "Parts of the package sut/builtin",
		"served:unique-key":  "Parts of the package sut/builtin",
	} {
		_, err := doubletap.Run(t.Context(), doubletap.Config{Target: target})
		var config *doubletap.ConfigError
		require.ErrorAs(t, err, &config, target)
		require.ErrorContains(t, err, says)
	}
}
