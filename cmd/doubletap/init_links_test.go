package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfAnAnswerThatNamesByALink holds that an address in the answer names what was created if it ends with the key of the row, and that a
// repetition which leads to another thing is a finding.
func TestInitOfAnAnswerThatNamesByALink(t *testing.T) {
	t.Parallel()
	const named = "identity: {pattern:"
	for name, c := range map[string]struct {
		header   string // that has the answer; empty: it is the body
		answer   string
		wrong    int // that a repetition adds to the number
		learns   string
		lacks    string
		exit     int
		findings string
	}{
		"itself":                      {"", `{"_links": {"collection": {"href": "/invitations/all"}, "self": {"href": "/teams/core/invitations/%d"}}}`, 0, named, "nothing in it equals a key", exitPass, ""},
		"itself, another":             {"", `{"_links": {"self": {"href": "/teams/core/invitations/%d"}}}`, 100000, "Whether a repetition may name another", "body: none", exitFinding, "replay-mismatch in 8 of 8 intents"},
		"with escaped slashes":        {"", `{"url": "http:\/\/api.example\/invitations\/%d?view=full", "state": "sent"}`, 0, named, "nothing in it equals a key", exitPass, ""},
		"another, with a query":       {"", `{"invitationUrl": "/invitations/%d/?view=full"}`, 100000, named, "nothing in it equals a key", exitFinding, "replay-mismatch in 8 of 8 intents"},
		"a resource name":             {"", `{"parent": "teams/1", "name": "teams/1/invitations/%d", "display": "come in"}`, 0, named, "nothing in it equals a key", exitPass, ""},
		"a resource name, of another": {"", `{"name": "teams/1/invitations/%d"}`, 100000, named, "nothing in it equals a key", exitFinding, "replay-mismatch in 8 of 8 intents"},
		"an amount of a kind":         {"", `{"name": "a table for 2/3/%d"}`, 0, "# - How the answer names the row", named, exitPass, ""},
		"a header of its entity":      {"OData-EntityId", `https://api.example/odata/invitations(%d)`, 0, "identity: {header: Odata-Entityid", "nothing in it equals a key", exitPass, ""},
		"a header, of another":        {"X-Invitation-Id", `%d`, 100000, "identity: {header: X-Invitation-Id", "nothing in it equals a key", exitFinding, "replay-mismatch in 8 of 8 intents"},
		"the end of an address":       {"Content-Location", `/v1/invitations/%d`, 0, "identity: {header: Content-Location", "nothing in it equals a key", exitPass, ""},
		"a header of its user":        {"X-User-Id", `%d`, 0, "# - How the answer names the row", "identity: {header", exitPass, ""},
		"the page of all":             {"", `{"href": "/pages/1", "thanks": %d}`, 0, "# - How the answer names the row", named, exitPass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table invitations (id integer primary key, request_key text unique, note text)")
			db.SetMaxOpenConns(1)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				note, key, ok := noteOf(w, r)
				if !ok {
					return
				}
				made, err := makes(db, "insert into invitations (request_key, note) values (?, ?) on conflict do nothing", key, note)
				id := 0
				if err == nil {
					err = db.QueryRow("select id from invitations where request_key = ?", key).Scan(&id)
				}
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				if !made {
					id += c.wrong
				}
				if c.header != "" {
					w.Header().Set(c.header, fmt.Sprintf(c.answer, id))
					w.WriteHeader(http.StatusNoContent)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(c.answer, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note": "come in and see"}' `+address+"/invitations", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, c.learns, said)
			require.NotContains(t, text, c.lacks)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "distinct-twins")
			require.Equal(t, c.exit, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
