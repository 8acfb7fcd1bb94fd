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

// payments is a service without a key to which some members of a body say together what makes two requests one. The broken one looks
// whether there is such a payment, and takes its time until it makes one.
func payments(t *testing.T, by []string, broken bool) (address, database string) {
	t.Helper()
	unique := ", unique (" + strings.Join(by, ", ") + ")"
	if broken {
		unique = ""
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table payments (id integer primary key, payer text, amount integer, note text"+unique+")")
	where := "where " + strings.Join(by, " = ? and ") + " = ?"
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		var values []any
		for _, member := range by {
			values = append(values, body[member])
		}
		id, status := 0, http.StatusOK
		if db.QueryRow("select id from payments "+where, values...).Scan(&id) != nil {
			if status = http.StatusCreated; broken {
				time.Sleep(2 * time.Millisecond)
			}
			_, _ = db.Exec("insert into payments (payer, amount, note) values (?, ?, ?) on conflict do nothing", body["payer"], body["amount"], body["note"])
			_ = db.QueryRow("select id from payments "+where, values...).Scan(&id)
		}
		says(w, status, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitOfMembersThatNameTogether holds that another body which makes a row of its own is no broken promise, and no row that was replaced.
func TestInitOfMembersThatNameTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by     []string
		learns []string
	}{
		"the whole body": {[]string{"payer", "amount", "note"}, []string{"natural_key: [/note, /amount, /payer]", "so there is no alter"}},
		"two of three":   {[]string{"amount", "note"}, []string{"natural_key: [/note, /amount]", "alter: {payer: Anna}", "fingerprint: {on_mismatch: replay-original}"}},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := payments(t, c.by, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"payer": "Ann", "amount": 12, "note": "rent of march"}' `+address+"/payments", "--db", database)
				text := readFile(t, file)
				for _, learnt := range append(c.learns, "Whether another body with the same /note may make a row of its own") {
					require.Contains(t, strings.ReplaceAll(text, "\n#", ""), learnt, said)
				}
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}
