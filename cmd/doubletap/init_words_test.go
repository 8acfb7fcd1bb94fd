package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfAnswersThatArePlainTexts holds that a word of a text names what was created if it is the key of the row in each create, that a repetition
// which names another is a finding, and that a number which is equal by chance is no name.
func TestInitOfAnswersThatArePlainTexts(t *testing.T) {
	t.Parallel()
	const named = "identity: {pattern:"
	for name, c := range map[string]struct {
		first, again string // query of the answer: ?1 is the number of the job
		learns       string
		lacks        string
		exit         int
		findings     string
	}{
		"the job's":          {"select 'OK job ' || ?1", "", named, "nothing in it equals a key", exitPass, ""},
		"another one's":      {"select 'OK job ' || ?1", "select 'OK job ' || (?1 + 100000)", "Whether a repetition may name another", "body: none", exitFinding, "replay-mismatch in 8 of 8 intents"},
		"another spelling":   {"select 'Queued as JOB-' || printf('%06d', ?1) || '.'", "", named, "nothing in it equals a key", exitPass, ""},
		"a number alone":     {"select ?1", "", named, "nothing in it equals a key", exitPass, ""},
		"a quoted text":      {"select '\"' || 'job ' || ?1 || '\"'", "", named, "nothing in it equals a key", exitPass, ""},
		"how many there are": {"select 'jobs: ' || count(*) from print_jobs where ?1 > 0", "", "# - How the answer names the row", named, exitPass, ""},
		"how many requests":  {"select 'Thanks for request ' || n from arrivals where ?1 > 0", "", "# - How the answer names the row", named, exitPass, ""},
		"how long it took":   {"select 'OK in ' || (?1 * 0 + 1) || ' ms'", "", "# - How the answer names the row", named, exitPass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
				create table print_jobs (job_no integer primary key, token text unique, document text, copies integer);
				create table arrivals (n integer); insert into arrivals values (0)`)
			db.SetMaxOpenConns(1)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				token, document, copies := r.Header.Get("X-Job-Token"), r.FormValue("document"), r.FormValue("copies")
				if token == "" || document == "" {
					http.Error(w, "bad job", http.StatusBadRequest)
					return
				}
				_, _ = db.Exec("update arrivals set n = n + 1")
				made, err := db.Exec("insert into print_jobs (token, document, copies) values (?, ?, ?) on conflict do nothing", token, document, copies)
				var job, n int64
				var other bool
				if err == nil {
					n, _ = made.RowsAffected()
					err = db.QueryRow("select job_no, document <> ? or copies <> ? from print_jobs where token = ?", document, copies, token).Scan(&job, &other)
				}
				query := c.first
				if n == 0 && c.again != "" {
					query = c.again
				}
				said := ""
				if err == nil {
					err = db.QueryRow(query, job).Scan(&said)
				}
				switch {
				case err != nil:
					http.Error(w, err.Error(), http.StatusInternalServerError)
				case other:
					http.Error(w, "the token belongs to another job", http.StatusConflict)
				default:
					w.Header().Set("Content-Type", "text/plain; charset=utf-8")
					fmt.Fprintln(w, said)
				}
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", "curl -H 'X-Job-Token: 41d7' -d 'document=a report of the year&copies=2' "+address+"/queue/print", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, c.learns, said)
			require.NotContains(t, text, c.lacks)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "distinct-twins")
			require.Equal(t, c.exit, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
