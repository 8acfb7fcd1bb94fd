package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitFindsTheMemberThatTakesAMarker holds that a member which takes a few words only does not keep a create from being proven.
func TestInitFindsTheMemberThatTakesAMarker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, column string
		refusal      int
	}{
		"a code of three letters beside a name": {`{"customer": "Ann", "tender": "EUR"}`, "customer", 500},
		"a title is a word of a list":           {`{"title": "Ms", "surname": "Lee"}`, "surname", 422},
		"two likely members, of which one is":   {`{"name": "Ann", "title": "Ms"}`, "name", 400},
		"it fails where it should refuse":       {`{"label": "red", "name": "Ann", "subject": "lamps"}`, "subject", 500},
		"only an address is free":               {`{"title": "Ms", "mail": "ann@example.com"}`, "mail", 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "things.db")
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)")
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			_, err = db.Exec("create table things (id integer primary key, key text unique, " + c.column + " text)")
			require.NoError(t, err)
			var given map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.body), &given))
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				for member := range given {
					if member != c.column && body[member] != given[member] {
						says(w, c.refusal, `{"error": "unknown value"}`)
						return
					}
				}
				_, _ = db.Exec("insert into things (key, "+c.column+") values (?, ?) on conflict do nothing", r.Header.Get("Idempotency-Key"), body[c.column])
				says(w, http.StatusCreated, `{"done": true}`)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '`+c.body+`' `+address+"/things", "--db", env["DATABASE_URL"])
			require.Contains(t, readFile(t, file), "from things where things."+c.column, said)
		})
	}
}
