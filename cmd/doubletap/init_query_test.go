package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tickets is a service whose creates have no body: the query says what they make. The broken one looks whether the key was used, and takes its
// time until it writes.
func tickets(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	schema := "create table tickets (id integer primary key, title text, seats integer, request text"
	if !broken {
		schema += " unique"
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", schema+")")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, key := r.URL.Query(), r.Header.Get("Idempotency-Key")
		seats, err := strconv.Atoi(query.Get("seats"))
		if key == "" || query.Get("title") == "" || err != nil || seats < 1 {
			says(w, http.StatusBadRequest, `{"error":"incomplete"}`)
			return
		}
		stored := func() (id int64, title string, of int, err error) {
			err = db.QueryRow("select id, title, seats from tickets where request = ?", key).Scan(&id, &title, &of)
			return id, title, of, err
		}
		id, title, of, err := stored()
		if err == sql.ErrNoRows {
			if broken {
				time.Sleep(2 * time.Millisecond)
			}
			_, _ = db.Exec("insert into tickets (title, seats, request) values (?, ?, ?)", query.Get("title"), seats, key)
			id, title, of, err = stored()
		}
		switch {
		case err != nil:
			says(w, http.StatusInternalServerError, `{"error":"database"}`)
		case title != query.Get("title") || of != seats:
			says(w, http.StatusUnprocessableEntity, `{"error":"key was used for another ticket"}`)
		default:
			says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d,"title":%q,"seats":%d}`, id, title, of))
		}
	})), "sqlite://" + path
}

// TestInitOfACreateWithoutABody holds that the members of a query are what those of a body are: one carries the marker, another is altered, and
// the row is held against it.
func TestInitOfACreateWithoutABody(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			address, database := tickets(t, broken)
			env := map[string]string{"DATABASE_URL": database}
			curl := `curl -X POST '` + address + `/tickets?title=Broken%20lamp&seats=2' -H 'Idempotency-Key: 3f2a51c8-1d7c-4d55-b0a5-0f6f1e0c9a11'`
			file, said := initiated(t, env, exitPass, "--curl", curl, "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "      query:\n        seats: \"2\"\n        title: '{{.Intent.Marker}}'\n", said)
			require.Contains(t, text, `alter: {seats: "3"}`, said)
			require.Contains(t, text, "content: {seats: /seats}", said)
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after"}, racing[broken]...)...)
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}

// TestInitOfAQueryBesideABody holds that a doubt says what no run alters: a value of the query that the row keeps. One that only asks for a form of the
// answer brings none.
func TestInitOfAQueryBesideABody(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table rooms (id integer primary key, name text, site text, request text unique)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, key, ok := noteOf(w, r)
		if !ok {
			return
		}
		var id int64
		_, err := db.Exec("insert into rooms (name, site, request) values (?, ?, ?) on conflict do nothing", name, r.URL.Query().Get("site"), key)
		require.NoError(t, err)
		require.NoError(t, db.QueryRow("select id from rooms where request = ?", key).Scan(&id))
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	}))
	file, said := initiated(t, nil, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note": "blue room", "amount": 2}' '`+address+`/rooms?site=north&view=short'`, "--db", "sqlite://"+path)
	text := readFile(t, file)
	require.Contains(t, text, "Whether the target compares ?site when a key comes again", said.err)
	require.NotContains(t, text, "?view", said.err)
}
