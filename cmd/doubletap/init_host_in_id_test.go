package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfAnAnswerWithTheHostInItsAddress holds that a thing that answers name by an absolute address alone is found at another base_url, too,
// wherever in it the key stands, and that a repetition which leads elsewhere is a finding there.
func TestInitOfAnAnswerWithTheHostInItsAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string // %[1]s: the host, %[2]s: the key
		wrong  bool   // a repetition leads to another thing
		exit   int
		finds  string
	}{
		"of a list":             {`{"links": [{"href": "http://%[1]s/v1/crates/%[2]s", "rel": "self"}, {"href": "http://%[1]s/crates/%[2]s", "rel": "bookmark"}]}`, false, exitPass, ""},
		"beside the id itself":  {`{"uuid": "%[2]s", "links": [{"href": "http://%[1]s/v1/crates/%[2]s", "rel": "self"}]}`, false, exitPass, ""},
		"its own":               {`{"url": "http://%[1]s/crates/%[2]s"}`, false, exitPass, ""},
		"its own, another":      {`{"url": "http://%[1]s/crates/%[2]s"}`, true, exitFinding, "replay-mismatch in 8 of 8 intents"},
		"by an odd member":      {`{"goto": "http://%[1]s/crates/%[2]s"}`, false, exitPass, ""},
		"an odd one, another":   {`{"goto": "http://%[1]s/crates/%[2]s"}`, true, exitFinding, "replay-mismatch in 8 of 8 intents"},
		"not at the end":        {`{"href": "http://%[1]s/crates/%[2]s/label.pdf"}`, false, exitPass, ""},
		"no address, but a URN": {`{"urn": "urn:crate:%[2]s"}`, false, exitPass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table crates (uuid text primary key, request_key text unique, note text)")
			db.SetMaxOpenConns(1)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				note, key, ok := noteOf(w, r)
				if !ok {
					return
				}
				id := uuidOf(key)
				made, err := makes(db, "insert into crates (uuid, request_key, note) values (?, ?, ?) on conflict do nothing", id, key, note)
				if err == nil {
					err = db.QueryRow("select uuid from crates where request_key = ?", key).Scan(&id)
				}
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				if !made && c.wrong {
					id = uuidOf(id)
				}
				says(w, http.StatusCreated, fmt.Sprintf(c.answer, r.Host, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note": "three lamps"}' `+address+"/crates", "--db", env["DATABASE_URL"])
			require.NotContains(t, readFile(t, file), strings.TrimPrefix(address, "http://")+"/", said)
			require.Contains(t, readFile(t, file), "identity: ", said)
			env["API_URL"] = strings.Replace(address, "127.0.0.1", "localhost", 1)
			require.NotEqual(t, address, env["API_URL"])
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "distinct-twins")
			require.Equal(t, c.exit, got.code, "%s\n%s", readFile(t, file), got)
			require.Contains(t, got.out, c.finds)
		})
	}
}

// uuidOf is a UUID that belongs to a text.
func uuidOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
