package main

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfALocationThatNoKeyReadsLike holds that a Location names what was created although it has no body and no key of a row reads so, and
// that a repetition which leads elsewhere is found.
func TestInitOfALocationThatNoKeyReadsLike(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		elsewhere bool // a repetition leads to another thing
		constant  bool // all lead to one page
		query     string
		learns    string
		lacks     string
		exit      int
		findings  string
	}{
		"the first one's":  {false, false, "", "identity: {header: Location", "lead elsewhere", exitPass, ""},
		"with a query":     {false, false, "?view=full&from=web", "identity: {header: Location", "lead elsewhere", exitPass, ""},
		"another, queried": {true, false, "?view=full", "Whether a repetition may lead elsewhere", "body: none", exitFinding, "replay-mismatch in 8 of 8 intents"},
		"another one's":    {true, false, "", "Whether a repetition may lead elsewhere", "body: none", exitFinding, "replay-mismatch in 8 of 8 intents"},
		"that of all":      {false, true, "", "# - How the answer names the row", "identity: {", exitPass, ""},
		"all, but another": {true, true, "", "# - How the answer names the row", "identity: {", exitPass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table claims (id integer primary key, request_key text unique, note text); create table numbers (n integer primary key)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				note, key, ok := noteOf(w, r)
				if !ok {
					return
				}
				made, err := makes(db, "insert into claims (request_key, note) values (?, ?) on conflict do nothing", key, note)
				var id int64
				if err == nil {
					err = db.QueryRow("select id from claims where request_key = ?", key).Scan(&id)
				}
				if err == nil && !made && c.elsewhere { // the number of a claim that was never made
					err = db.QueryRow("insert into numbers default values returning n").Scan(&id)
					id += 100_000
				}
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				to := "/claims/clm_" + strconv.FormatInt(id*7919+46655, 36)
				if c.constant {
					to = "/claims/thanks"
				}
				w.Header().Set("Location", to+c.query)
				w.WriteHeader(http.StatusCreated)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", fmt.Sprintf(`curl -H 'Idempotency-Key: k-1' -d '{"note": "a broken window"}' %s/claims`, address), "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, c.learns, said)
			require.NotContains(t, text, c.lacks)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
			require.Equal(t, c.exit, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
