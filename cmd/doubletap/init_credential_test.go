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

// doorkeeper is where a service asks who sends: before it looks for the key, or only where it does something new.
type doorkeeper struct {
	ask    string // name of the header; empty: nobody is asked
	late   bool
	status int
	keeps  bool // what was refused for that is refused for good
}

// lets reports that a request may pass.
func (d doorkeeper) lets(r *http.Request) bool {
	return d.ask == "" || strings.HasSuffix(r.Header.Get(d.ask), "secret-token-77")
}

// open serves notes, each with a key.
func (d doorkeeper) open(t *testing.T) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
		"create table notes (id integer primary key, request_key text not null unique, title text not null, stars integer not null); create table refusals (request_key text primary key)")
	db.SetMaxOpenConns(1)
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n struct {
			Title string
			Stars int
		}
		_ = json.NewDecoder(r.Body).Decode(&n)
		key := r.Header.Get("Idempotency-Key")
		tell := func() error {
			var id, stars int
			var title string
			err := db.QueryRow("select id, title, stars from notes where request_key = ?", key).Scan(&id, &title, &stars)
			switch {
			case err == nil && (title != n.Title || stars != n.Stars):
				says(w, http.StatusUnprocessableEntity, `{"error":"key_reused"}`)
			case err == nil:
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d,"title":%q}`, id, title))
			}
			return err
		}
		if !d.late && !d.lets(r) {
			says(w, d.status, `{"error":"who_are_you"}`)
			return
		}
		if err := tell(); !errors.Is(err, sql.ErrNoRows) {
			return
		}
		kept := 0
		_ = db.QueryRow("select count(*) from refusals where request_key = ?", key).Scan(&kept)
		switch {
		case kept > 0 || !d.lets(r):
			if d.keeps {
				_, _ = db.Exec("insert or ignore into refusals values (?)", key)
			}
			says(w, d.status, `{"error":"who_are_you"}`)
		case key == "" || n.Title == "" || n.Stars <= 0:
			says(w, http.StatusBadRequest, `{"error":"invalid"}`)
		default:
			_, _ = db.Exec("insert into notes (request_key, title, stars) values (?, ?, ?) on conflict do nothing", key, n.Title, n.Stars)
			_ = tell()
		}
	})), "sqlite://" + path
}

// TestInitFindsWhatSaysWhoSends holds that init names the headers without which a create is refused, so that a run sees a service that answers a
// known key before it asks who sends; and names none where nobody is asked.
func TestInitFindsWhatSaysWhoSends(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doorkeeper
		header, line, verdict string
		exit                  int
	}{
		"asked first":              {doorkeeper{ask: "Authorization", late: false, status: 401}, "Authorization: Bearer secret-token-77", "credential: [Authorization] # a create without it was refused with 401", "✓ no-credential", exitPass},
		"asked behind the key":     {doorkeeper{ask: "Authorization", late: true, status: 401}, "Authorization: Bearer secret-token-77", "credential: [Authorization]", "A request without a credential was told of what had been created with one (201)", exitFinding},
		"a cookie":                 {doorkeeper{ask: "Cookie", late: true, status: 403}, "Cookie: sid=secret-token-77", "credential: [Cookie] # a create without it was refused with 403", "✗ no-credential", exitFinding},
		"what was refused is kept": {doorkeeper{ask: "Authorization", late: true, status: 401, keeps: true}, "Authorization: Bearer secret-token-77", "credential: [Authorization]", "A request without the credential was refused with 401, and every retry with it under the same", exitFinding},
		"nobody is asked":          {doorkeeper{}, "Authorization: Bearer secret-token-77", "", "– no-credential", exitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := c.open(t)
			env := map[string]string{"DATABASE_URL": database, "API_TOKEN": "secret-token-77", "API_COOKIE": "sid=secret-token-77"}
			curl := `curl -H '` + c.header + `' -H 'Idempotency-Key: k-1' -d '{"title": "happy birthday to you", "stars": 3}' ` + address + "/notes"
			file, said := initiated(t, env, exitPass, "--curl", curl, "--db", database)
			text := readFile(t, file)
			require.NotContains(t, text, "secret-token-77")
			if c.line == "" {
				require.NotContains(t, text, "credential:", said)
			}
			require.Contains(t, text, c.line, said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "no-credential")
			require.Equal(t, c.exit, got.code, got)
			require.Contains(t, got.out, c.verdict)
		})
	}
}
