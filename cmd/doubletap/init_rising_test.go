package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfNumbersThatHaveToRise holds that init says where a number counts as part of what makes two creates one, and one below the last is
// acknowledged and dropped: each intent has the name for itself, so runs do not show it.
func TestInitOfNumbersThatHaveToRise(t *testing.T) {
	t.Parallel()
	for name, rising := range map[string]bool{"any": false, "rising": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate",
				"create table telemetry (id integer primary key, device text not null, seq integer not null, note text not null, unique (device, seq))")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Device, Note string
					Seq          int64
				}
				if json.NewDecoder(r.Body).Decode(&body) != nil || body.Device == "" || body.Note == "" || body.Seq < 1 {
					says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
					return
				}
				_, err := db.Exec(`insert into telemetry (device, seq, note) select ?1, ?2, ?3
					where not ?4 or not exists (select 1 from telemetry where device = ?1 and seq > ?2) on conflict do nothing`, body.Device, body.Seq, body.Note, rising)
				if err != nil {
					says(w, http.StatusInternalServerError, `{"error":"internal"}`)
					return
				}
				says(w, http.StatusOK, `{"received":true}`)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"device": "d-1001", "seq": 17, "note": "warm"}' `+address+"/telemetry", "--db", env["DATABASE_URL"])
			text := strings.ReplaceAll(readFile(t, file), "\n# ", " ")
			require.Contains(t, text, "natural_key: [/device, /seq]", said)
			require.Equal(t, rising, strings.Contains(text, "Whether a lower /seq with the same /device is lost"), text)
		})
	}
}
