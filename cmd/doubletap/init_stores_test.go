package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitAltersWhatARowKeeps holds that runs look in a row only for what one was seen to keep: a number may be cut to a range, a flag be
// one or zero, and a word be written in lower case. The broken service overwrites the first body.
func TestInitAltersWhatARowKeeps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, keeps string
		learns      []string
	}{
		"a number that is cut": {`{"title": "call Ada", "priority": 3}`, "min(3, max(1, ?))", []string{"alter: {priority: 2}", "content: {priority: /priority}"}},
		"a flag":               {`{"title": "call Ada", "priority": 1}`, "(? <> 0)", []string{"alter: {priority: 0}", "content: {priority: /priority}"}},
		"always the same":      {`{"title": "call Ada", "priority": 1}`, "(? is not null)", []string{"alter: {priority: 0}"}},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table tasks (id integer primary key, title text, priority integer, k text unique)")
				address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var body struct {
						Title    string
						Priority int
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					taken := "nothing"
					if broken {
						taken = "update set priority = excluded.priority, title = excluded.title"
					}
					key, id := r.Header.Get("Idempotency-Key"), 0
					_, _ = db.Exec("insert into tasks (title, priority, k) values (?, "+c.keeps+", ?) on conflict (k) do "+taken, body.Title, body.Priority, key)
					_ = db.QueryRow("select id from tasks where k = ?", key).Scan(&id)
					says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
				}))
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, said := initiated(t, env, exitPass, "--curl", "curl -H 'Idempotency-Key: 7' -d '"+c.body+"' "+address+"/tasks", "--db", env["DATABASE_URL"])
				text := readFile(t, file)
				for _, learnt := range c.learns {
					require.Contains(t, text, learnt, said)
				}
				if len(c.learns) == 1 {
					require.NotContains(t, text, "content:")
				}
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "altered-after")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}
