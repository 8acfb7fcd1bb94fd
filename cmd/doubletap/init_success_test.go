package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitLearnsWhichMemberSaysThatItIsDone holds that an answer which has the status of a success, and says in its body that it is none,
// is no acknowledgement.
func TestInitLearnsWhichMemberSaysThatItIsDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		done, taken, busy string
		learns            []string
	}{
		"a code that is a number": {`{"code": 0, "data": {"id": %d}}`, `{"code": 40901, "message": "duplicate"}`, `{"code": 50000, "message": "busy"}`,
			[]string{"where: {/code: 0}}", "existing: {statuses: [200], where: {/code: 40901}}"}},
		"a code that is a text": {`{"retCode": "0000", "data": {"id": %d}}`, `{"retCode": "1001"}`, `{"retCode": "9999"}`,
			[]string{"where: {/retCode: \"0000\"}}", "existing: {statuses: [200], where: {/retCode: \"1001\"}}"}},
		"a truth value": {`{"success": true, "id": %d}`, `{"success": false, "error": "taken"}`, `{"success": false, "error": "busy"}`,
			[]string{"where: {/success: true}}", "existing: {statuses: [200], where: {/error: taken, /success: false}}"}},
		"a truth value and a sentence": {`{"ok": true, "id": %d}`, `{"ok": false, "message": "it is there already"}`, `{"ok": false, "message": "come back later"}`,
			[]string{"where: {/ok: true}}", "existing: {statuses: [200], where: {/message: it is there already, /ok: false}}"}},
		"an error of JSON-RPC": {`{"jsonrpc": "2.0", "result": {"id": %d}, "id": 7}`, `{"jsonrpc": "2.0", "error": {"code": -32010, "message": "taken"}, "id": 7}`,
			`{"jsonrpc": "2.0", "error": {"code": -32000, "message": "busy"}, "id": 7}`,
			[]string{"where: {/error: null}}", "existing: {statuses: [200], where: {/error/code: -32010}}"}},
		"an error that others lack": {`{"order": {"id": %d}}`, `{"error": "it is there already"}`, `{"error": "come back later"}`,
			[]string{"where: {/error: null}}", "existing: {statuses: [200], where: {/error: it is there already}}"}},
		"errors in a list": {`{"errors": [], "order": {"id": %d}}`, `{"errors": [{"code": 17, "message": "taken"}], "order": null}`, `{"errors": [{"code": 18}], "order": null}`,
			[]string{"where: {/errors/0: null}}", "existing: {statuses: [200], where: {/errors/0/code: 17}}"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, order_no text unique, remark text)")
			var requests atomic.Int64
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				if requests.Add(1)%19 == 0 {
					says(w, http.StatusOK, c.busy)
					return
				}
				made, err := db.Exec("insert into orders (order_no, remark) values (?, ?)", body["order_no"], body["remark"])
				if err != nil {
					says(w, http.StatusOK, c.taken)
					return
				}
				id, _ := made.LastInsertId()
				says(w, http.StatusOK, fmt.Sprintf(c.done, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"order_no": "A-1", "remark": "quick please", "fee": 100}' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			for _, line := range c.learns {
				require.Contains(t, text, line, said)
			}
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, firstRun...)...)
			require.Contains(t, []int{exitPass, exitInconclusive}, got.code, "%s\n%s", text, got)
		})
	}
}
