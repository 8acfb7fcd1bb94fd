package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shortCodes is a service with a key whose only text is a code of at most twelve letters. The broken one looks whether the key is known, and
// takes its time until it writes it down.
func shortCodes(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	unique := " unique"
	if broken {
		unique = ""
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table leaves (id integer primary key, idem text"+unique+", employee_code varchar(12), days smallint)")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			EmployeeCode string
			Days         int
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil || len(body.EmployeeCode) > 12 || body.Days > 30 {
			says(w, http.StatusBadRequest, `{"error":"invalid"}`)
			return
		}
		key, id, status := r.Header.Get("Idempotency-Key"), 0, http.StatusOK
		if db.QueryRow("select id from leaves where idem = ?", key).Scan(&id) != nil {
			if status = http.StatusCreated; broken {
				time.Sleep(2 * time.Millisecond)
			}
			_, _ = db.Exec("insert into leaves (idem, employee_code, days) values (?, ?, ?) on conflict do nothing", key, body.EmployeeCode, body.Days)
			_ = db.QueryRow("select id from leaves where idem = ?", key).Scan(&id)
		}
		says(w, status, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitOfAShortText holds that a text which has no room for a marker of letters carries one of nine digits.
func TestInitOfAShortText(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			address, database := shortCodes(t, broken)
			env := map[string]string{"DATABASE_URL": database}
			curl := `curl -H 'Idempotency-Key: 3f0c6c0e-6a86-4a27-a7ab-5d2c1c1d9b10' -d '{"employeeCode": "EMP-0042", "days": 5}' ` + address + "/leaves"
			file, said := initiated(t, env, exitPass, "--curl", curl, "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "marker: number # no member of the body has room for a longer text", said)
			require.Contains(t, text, "employeeCode: '{{.Intent.Marker}}'", said)
			require.Contains(t, text, "days: 5\n", said)
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
