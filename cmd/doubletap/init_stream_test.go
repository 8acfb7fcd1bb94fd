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

// eventStore is a store of events, in which a cart, or an account, is opened once: a second first event is answered 412, as its stream is not new. The broken one
// looks whether there is a stream, and takes its time until it writes.
func eventStore(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	schema := "create table events (pk integer primary key, stream text, position integer, remark text, credit integer"
	if !broken {
		schema += ", unique (stream, position)"
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", schema+")")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cart := strings.Split(r.URL.Path, "/")[2]
		var body struct {
			Remark string
			Credit int
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		there := 0
		if broken && db.QueryRow("select pk from events where stream = ?", cart).Scan(&there) != nil {
			time.Sleep(2 * time.Millisecond)
		}
		if there == 0 {
			if _, err := db.Exec("insert into events (stream, position, remark, credit) values (?, 1, ?, ?)", cart, body.Remark, body.Credit); err == nil {
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%q}`, cart))
				return
			}
		}
		says(w, http.StatusPreconditionFailed, `{"title":"Precondition Failed","detail":"expected version 0, and it is 1"}`)
	})), "sqlite://" + path
}

// TestInitOfAStreamThatIsNotNew holds that 412 says that something is there where a request has no condition which it could be about.
func TestInitOfAStreamThatIsNotNew(t *testing.T) {
	t.Parallel()
	things := map[bool]string{false: "/accounts", true: "/carts"} // an account may be who asks, and what is made
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			address, database := eventStore(t, broken)
			env := map[string]string{"DATABASE_URL": database}
			curl := `curl -d '{"remark": "for the weekend", "credit": 300}' ` + address + things[broken] + "/0b9c1d2e-6f37-4e0e-9a51-1c64c0ffee11/open"
			file, said := initiated(t, env, exitPass, "--curl", curl, "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, `path: "`+things[broken]+`/{{.Key}}/open"`, said)
			require.Contains(t, text, "existing: {statuses: [412]")
			require.NotContains(t, text, "Which version each request is for")
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
