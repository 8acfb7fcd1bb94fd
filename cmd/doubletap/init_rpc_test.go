package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfCallsOfProcedures holds that the number which a client gives its call (JSON-RPC 2.0, section 4) names nothing, that an audit log with
// the same text is not what was created, and that an element of a list may name it.
func TestInitOfCallsOfProcedures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again    int // is added to the number in the answer to a repetition
		exit     int
		findings string
	}{
		"a repetition is told the group": {0, exitPass, ""},
		"a repetition is told another":   {1000, exitFinding, "replay-mismatch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table teams (groupid integer primary key autoincrement, name text unique);"+
					"create table auditlog (auditid integer primary key, userid integer, resourcename text);"+
					"insert into teams (groupid, name) values (70, 'all')")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var call struct {
					ID     int
					Params struct{ Name string }
				}
				_ = json.NewDecoder(r.Body).Decode(&call)
				id := 0
				if inTransaction(w, db, func(tx *sql.Tx) error {
					made, err := makes(tx, "insert into teams (name) values (?) on conflict do nothing", call.Params.Name)
					if err == nil && made {
						_, err = tx.Exec("insert into auditlog (userid, resourcename) values (1, ?)", call.Params.Name)
					}
					err = cmp.Or(err, tx.QueryRow("select groupid from teams where name = ?", call.Params.Name).Scan(&id))
					if !made {
						id += c.again
					}
					return err
				}) {
					says(w, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"groupids":["%d"]}}`, call.ID, id))
				}
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"jsonrpc": "2.0", "id": 1, "method": "team.create", "params": {"name": "lamps"}}' `+address+"/rpc", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "identity: /result/groupids/0\n", said)
			require.Contains(t, text, "from teams where teams.name = :marker", said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
			require.Equal(t, c.exit, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
