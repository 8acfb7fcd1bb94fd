package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfABodyThatIsOneText holds that a body which has nothing but a text is altered, too: the altered one has a marker of its own. The broken
// service knows a key together with its body, so that another body under the key makes another row.
func TestInitOfABodyThatIsOneText(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table messages (id integer primary key, text text, request text unique)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Text string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				key := r.Header.Get("Idempotency-Key")
				if key == "" {
					says(w, http.StatusBadRequest, `{"error": "no key"}`)
					return
				}
				if broken {
					key += body.Text
				}
				_, _ = db.Exec("insert into messages (text, request) values (?, ?) on conflict do nothing", body.Text, key)
				id, text := 0, ""
				if err := db.QueryRow("select id, text from messages where request = ?", key).Scan(&id, &text); err != nil {
					says(w, http.StatusInternalServerError, `{"error": "database"}`)
					return
				}
				if text != body.Text {
					says(w, http.StatusUnprocessableEntity, `{"error": "another body"}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-20240017' -d '{"text": "hello there"}' `+address+"/messages", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, `alter: {text: "{{.Intent.Marker}}"}`, said)
			require.Equal(t, !broken, strings.Contains(text, "fingerprint: {on_mismatch: reject, statuses: [422]"), text)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "altered-after")
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
