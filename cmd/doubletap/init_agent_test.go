package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bookmarks is an API whose sessions are bound to the client that has signed in, and which says in the body of a 200 that there is none. It
// keeps what it was given as one, as the session of nobody.
func bookmarks(t *testing.T, member, session, client string) (address string, env map[string]string) {
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table sessions (id text primary key); create table bookmarks (id integer primary key, url text unique, title text)")
	address = serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		if body[member] != session || r.UserAgent() != client {
			_, _ = db.Exec("insert into sessions values (?) on conflict do nothing", body[member])
			says(w, http.StatusOK, `{"seq": 0, "content": {"error": "NOT_LOGGED_IN"}}`)
			return
		}
		_, _ = db.Exec("insert into bookmarks (url, title) values (?, ?) on conflict (url) do update set title = excluded.title", body["url"], body["title"])
		says(w, http.StatusOK, `{"seq": 0, "content": {"status": "OK"}}`)
	}))
	return address, map[string]string{"DATABASE_URL": "sqlite://" + path}
}

// TestInitHasTheClientOfASession holds that a session which is bound to its client is used by that client, and stays out of the file.
func TestInitHasTheClientOfASession(t *testing.T) {
	t.Parallel()
	const session = "k3fj29dkq0vh27s6m1pa"
	address, env := bookmarks(t, "sid", session, "Mozilla/5.0 (X11)")
	file, said := initiated(t, env, exitPass, "--curl", `curl -A 'Mozilla/5.0 (X11)' -d '{"sid": "`+session+`", "url": "http://example.org/story-2026-0017", "title": "An old story"}' `+address+"/api", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "from bookmarks where bookmarks.title", said)
	require.Contains(t, text, "User-Agent: Mozilla/5.0 (X11)")
	require.NotContains(t, text+said.err, session)
}

// TestInitLeavesAClientThatChangesNothing holds that the User-Agent of the source is not written where it is of no use: runs try other ones.
func TestInitLeavesAClientThatChangesNothing(t *testing.T) {
	t.Parallel()
	address, env := bookmarks(t, "user", "ann", "doubletap")
	file, said := initiated(t, env, exitPass, "--curl", `curl -A 'Mozilla/5.0 (X11)' -d '{"user": "ann", "url": "http://example.org/story-2026-0017", "title": "An old story"}' `+address+"/api", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "from bookmarks where bookmarks.title", said)
	require.NotContains(t, text, "Mozilla")
}

// TestInitTakesNoFailedCreateForOne holds that a row which a failed create has left, such as in a log, is nothing that it has created.
func TestInitTakesNoFailedCreateForOne(t *testing.T) {
	t.Parallel()
	address, env := bookmarks(t, "handle", "no such one", "nobody")
	file, said := initiated(t, env, exitPass, "--curl", `curl -A 'Mozilla/5.0 (X11)' -d '{"handle": "k3fj29dkqavh", "url": "http://example.org/story-2026-0017", "title": "An old story"}' `+address+"/api", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.NotContains(t, text, "from sessions", said)
	require.NotContains(t, text, "Mozilla")
	require.Contains(t, said.err, "/content/error of the answer says what went wrong")
}

// TestInitFindsALinkThatNames holds that a link may be what makes two creates one, also where the database has no more of it than a hash.
func TestInitFindsALinkThatNames(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table bookmarks (id integer primary key, guid text unique, title text)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		if !strings.HasPrefix(body["link"], "https://example.org/") {
			says(w, http.StatusUnprocessableEntity, `{"error": "not reached"}`)
			return
		}
		_, _ = db.Exec("insert into bookmarks (guid, title) values (?, ?) on conflict (guid) do nothing", fmt.Sprintf("%x", sha256.Sum256([]byte(body["link"]))), body["title"])
		says(w, http.StatusOK, `{"done": true}`)
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"link": "https://example.org/story.html?from=mail", "title": "An old story"}' `+address+"/bookmarks", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "natural_key: [/link]", said)
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "plain-create", "sequential-replay", "burst-same-key")
	require.Equal(t, exitPass, got.code, got)
}

// TestInitTakesACreateThatSaysWhatElseFailed holds that a create which says each time that something beside it failed, such as a mail, is found by
// another member, where the first one stood in no column; what fails and names each request anew has created nothing, though a log has the marker.
func TestInitTakesACreateThatSaysWhatElseFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ insert, answer, found string }{
		"a mail":     {"insert into orders (email, item) values (?1, ?2)", `{"id": %d, "error": "mail_not_sent"}`, "from orders"},
		"the create": {"insert into tries (email) values (?1)", `{"request_id": "a-%d-b", "error": "not_paid"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, email text, item text); create table tries (id integer primary key, email text)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]string
				_ = json.NewDecoder(r.Body).Decode(&body)
				made, err := db.Exec(c.insert, body["email"], fmt.Sprintf("%x", sha256.Sum256([]byte(body["item"]))))
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				id, _ := made.LastInsertId()
				says(w, http.StatusOK, fmt.Sprintf(c.answer, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"email": "ada@example.org", "item": "two lamps for the hall"}' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.NotContains(t, text, "from tries", said)
			require.Contains(t, text, c.found, said)
		})
	}
}

// TestInitTakesNoRefusalOfAnotherClientForADecline holds that a create which was refused to another client than the source's says nothing of those
// that runs send.
func TestInitTakesNoRefusalOfAnotherClientForADecline(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, item text)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		if !strings.HasPrefix(r.UserAgent(), "Mozilla") {
			says(w, http.StatusForbidden, `{"error": "no_browser"}`)
			return
		}
		_, _ = db.Exec("insert into orders (item) values (?)", body["item"])
		says(w, http.StatusCreated, `{"done": true}`)
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -A 'Mozilla/5.0 (X11)' -d '{"item": "two lamps for the hall"}' `+address+"/orders", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "User-Agent: Mozilla/5.0 (X11)", said)
	require.NotContains(t, text, "no_browser")
}
