package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitSaysWhatTheDatabaseRefuses holds that a primary key which the client says, a unique index for some rows and one of an expression are named as
// what prevents a second row, and that an answer which names nothing shows that capitals make no difference.
func TestInitSaysWhatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema, says string
		ignores      bool
	}{
		"a primary key of the client": {"create table events (email text primary key, note text)", "The database itself refuses a second row in events with the same (email).", false},
		"some rows": {"create table events (n integer primary key, email text, note text, revoked text); create unique index living on events (email) where revoked is null",
			"The database itself refuses a second row in events with the same (email) where revoked is null.", false},
		"an expression": {`create table events (n integer primary key, email text, note text); create unique index "by address" on "events" (lower(email))`,
			"The database itself refuses a second row in events with the same (lower(email)).", true},
		"nothing": {"create table events (n integer primary key, email text, note text)", "The database prevents no second row", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", c.schema)
			same := "email = ?"
			if c.ignores {
				same = "lower(email) = lower(?)"
			}
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Email, Note string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				known := ""
				if db.QueryRow("select email from events where "+same, body.Email).Scan(&known) != nil {
					_, _ = db.Exec("insert into events (email, note) values (?, ?)", body.Email, body.Note)
					known = body.Email
				}
				says(w, http.StatusOK, fmt.Sprintf(`{"invited":%q}`, known))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"email": "ada@example.org", "note": "have a look"}' `+address+"/events", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), c.says, said)
			require.Equal(t, c.ignores, strings.Contains(text, "natural_key_ignores: [case]"), "%s\n%s", text, said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "natural-key-spelling")
			require.Contains(t, map[bool][]int{true: {exitPass}, false: {exitPass, exitInconclusive}}[c.ignores], got.code, "%s\n%s", text, got)
		})
	}
}
