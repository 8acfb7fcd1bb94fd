package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slugs is a service to which a client says in the path what it makes, by a word. With once, a request has to say that it is for what is
// not there yet, and 412 says that it is; otherwise one that is there is answered as it is. The broken one looks whether it is there, and takes
// its time until it makes it.
func slugs(t *testing.T, once, broken bool) (address, database string) {
	t.Helper()
	schema := "create table documents (pk integer primary key, slug text, title text, words integer"
	if !broken {
		schema += ", unique (slug)"
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", schema+")")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slug := strings.TrimPrefix(r.URL.Path, "/docs/")
		var body struct {
			Slug, Title string
			Words       int
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if body.Slug != "" && body.Slug != slug {
			says(w, http.StatusBadRequest, `{"error":"another slug in the path"}`)
			return
		}
		answer := func(made bool) {
			switch {
			case made:
				says(w, http.StatusCreated, fmt.Sprintf(`{"slug":%q}`, slug))
			case once:
				says(w, http.StatusPreconditionFailed, `{"error":"exists"}`)
			default:
				says(w, http.StatusOK, fmt.Sprintf(`{"slug":%q}`, slug))
			}
		}
		found := 0
		switch {
		case once && r.Header.Get("If-None-Match") != "*":
			says(w, http.StatusPreconditionRequired, `{"error":"precondition"}`)
			return
		case db.QueryRow("select pk from documents where slug = ?", slug).Scan(&found) == nil:
			answer(false)
			return
		case broken:
			time.Sleep(2 * time.Millisecond)
		}
		_, err := db.Exec("insert into documents (slug, title, words) values (?, ?, ?)", slug, body.Title, body.Words)
		answer(err == nil)
	})), "sqlite://" + path
}

// TestInitOfWhatThePathNames holds that a PUT whose path ends with a word makes another thing with another word, also where the body repeats it,
// and that 412 says of one for what is not there yet that it is there.
func TestInitOfWhatThePathNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		once   bool
		header string
		member string
		learns string
	}{
		"If-None-Match":              {true, "-H 'If-None-Match: *'", "", "existing: {statuses: [412], where: {/error: exists}}"},
		"If-None-Match, in the body": {true, "-H 'If-None-Match: *'", `"slug": "getting-started", `, "existing: {statuses: [412], where: {/error: exists}}"},
		"what is there":              {false, "", "", "replay: {status: {201: [200]}}"},
		"what is there, in the body": {false, "", `"slug": "getting-started", `, "slug: '{{.Key}}'"},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := slugs(t, c.once, broken)
				env := map[string]string{"DATABASE_URL": database}
				curl := `curl -X PUT ` + c.header + ` -d '{` + c.member + `"title": "Getting started", "words": 300}' ` + address + "/docs/getting-started"
				file, said := initiated(t, env, exitPass, "--curl", curl, "--db", database)
				text := readFile(t, file)
				require.Contains(t, text, `path: "/docs/{{.Key}}"`, said)
				require.Contains(t, text, c.learns, said)
				require.NotContains(t, text, "Which version each request is for")
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}
