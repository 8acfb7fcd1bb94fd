package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfATextThatNamesAThing holds that another body of an intent has the same natural key where that is the text which carries the marker:
// else it would be another intent, and nothing of the first one's promise would be tried.
func TestInitOfATextThatNamesAThing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken   bool
		exit     int
		findings string
	}{
		"the first one's is kept":        {false, exitPass, ""},
		"another colour is a second row": {true, exitFinding, "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table tags (id integer primary key, name text, colour text)")
			var making sync.Mutex
			var later atomic.Bool // than init has looked
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Name, Colour string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				making.Lock()
				defer making.Unlock()
				id, status, query := 0, http.StatusOK, "select id from tags where name = ?"
				if c.broken && later.Load() {
					query += " and colour = '" + body.Colour + "'"
				}
				if db.QueryRow(query, body.Name).Scan(&id) != nil {
					status = http.StatusCreated
					_ = db.QueryRow("insert into tags (name, colour) values (?, ?) returning id", body.Name, body.Colour).Scan(&id)
				}
				says(w, status, fmt.Sprintf(`{"id":%d,"name":%q}`, id, body.Name))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"name": "autumn", "colour": "red"}' `+address+"/tags", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "natural_key: [/name]", said)
			require.Contains(t, text, "name: '{{.Intent.Reference}}'")
			later.Store(true)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "altered-after")
			require.Equal(t, c.exit, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
