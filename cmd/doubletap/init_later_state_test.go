package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitComparesTheLaterStateWithItsOwnCreate holds that what a create was answered once more, some seconds later, is compared with the answers
// about that create, although another one came behind it to try another body: that one has another id.
func TestInitComparesTheLaterStateWithItsOwnCreate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goesOn bool
		replay string
	}{
		"it stays as it is": {false, "idempotent # what follows"},
		"it goes on":        {true, "replay: {body: identity}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var begun sync.Map
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table payments (id integer primary key, intent text unique, note text, total numeric)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Intent, Note string
					Total        float64
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				if body.Total <= 0 {
					says(w, http.StatusBadRequest, `{"error": "total"}`)
					return
				}
				_, err := db.Exec("insert into payments (intent, note, total) values (?, ?, ?) on conflict do nothing", body.Intent, body.Note, body.Total)
				require.NoError(t, err)
				var id int64
				var total float64
				require.NoError(t, db.QueryRow("select id, total from payments where intent = ?", body.Intent).Scan(&id, &total))
				made, _ := begun.LoadOrStore(id, time.Now())
				state := "processing"
				if c.goesOn && time.Since(made.(time.Time)) > time.Second {
					state = "paid"
				}
				says(w, http.StatusOK, fmt.Sprintf(`{"id": %d, "status": %q, "total": %v}`, id, state, total))
			}))
			file, said := initiated(t, nil, exitPass, "--curl", `curl -H 'Content-Type: application/json' -d '{"intent": "pi_3Nabc", "note": "Leave at the door", "total": 4200}' `+address+"/webhook", "--db", "sqlite://"+path)
			text := readFile(t, file)
			require.NotContains(t, text, "Whether a repetition may name another", said)
			require.Contains(t, text, "natural_key: [/intent]")
			require.Contains(t, text, c.replay)
			if !c.goesOn {
				require.NotContains(t, text, "replay:")
			}
		})
	}
}
