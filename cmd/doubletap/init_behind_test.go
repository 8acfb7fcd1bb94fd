package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitOfWhatIsDoneBehindARecordOfRequests holds that of what is accepted, the row counts that is made when it is done, and not the record by
// which requests are known again.
func TestInitOfWhatIsDoneBehindARecordOfRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		twice    bool
		exit     int
		findings string
	}{
		"each is done once":   {false, exitPass, "pass"},
		"some are done twice": {true, exitFinding, "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
				create table inbox (id integer primary key, message_id text unique, payload text);
				create table readings (id integer primary key, device text, celsius real)`)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var reading struct {
					MessageID, Device string
					Celsius           float64
				}
				_ = json.NewDecoder(r.Body).Decode(&reading)
				taken, err := db.Exec("insert into inbox (message_id, payload) values (?, ?) on conflict do nothing", reading.MessageID, reading.Device)
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				if n, _ := taken.RowsAffected(); n == 1 {
					id, _ := taken.LastInsertId()
					time.AfterFunc(time.Second, func() {
						for range 1 + map[bool]int{true: 1}[c.twice && id > 20 && id%4 == 0] {
							_, _ = db.Exec("insert into readings (device, celsius) values (?, ?)", reading.Device, reading.Celsius)
						}
					})
				}
				says(w, http.StatusAccepted, `{"accepted":true}`)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -d '{"messageId": "m-0001", "device": "cellar", "celsius": 18.5}' `+address+"/readings", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "from readings where readings.device = :marker")
			require.Contains(t, text, "natural_key: [/messageId]")
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay", "plain-create", "double-click")
			require.Equal(t, c.exit, got.code, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
