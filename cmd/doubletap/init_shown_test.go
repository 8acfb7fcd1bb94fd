package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitTakesAFormShownAgainForARefusal holds that a page answered 200 with the form again is no acknowledgement, where the form leads elsewhere
// when it is taken.
func TestInitTakesAFormShownAgainForARefusal(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table groups (id integer primary key, name text unique)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.Exec("insert into groups (name) values (?)", r.PostFormValue("name")); err == nil {
			http.Redirect(w, r, "/groups/", http.StatusFound)
			return
		}
		fmt.Fprint(w, `<form method="post"><p>There is such a group.</p><input type="text" name="name"></form>`)
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, got := initiated(t, env, exitPass, "--curl", `curl -d 'name=the+editors' `+address+"/groups", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "  existing: {statuses: [200]} # the value is taken\n", "%s", got)
	require.NotContains(t, text, "replay: {")
	require.NotContains(t, text, "[200, 302]")
	got = callWith(t.Context(), env, "run", "burst-same-key", "sequential-replay", "--reports", t.TempDir(), "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
}
