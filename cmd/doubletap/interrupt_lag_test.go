package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAStoppedRunLosesNoRowThatComesBehindItsAnswer holds that rows which are written a moment after the answers are looked for a moment longer, where a
// run was stopped in between.
func TestAStoppedRunLosesNoRowThatComesBehindItsAnswer(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=busy_timeout(30000)", "create table notes (id integer primary key, words text)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Words string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		time.AfterFunc(300*time.Millisecond, func() { _, _ = db.Exec("insert into notes (words) values (?)", body.Words) })
		says(w, http.StatusCreated, `{}`)
	}))
	target := writeFile(t, "notes.yaml", fmt.Sprintf(`
name: notes
base_url: %s
database: {url: "sqlite://%s"}
contract: {preset: dedup-only}
operations:
  create_note:
    request: {method: POST, path: /notes, body: {words: "{{.Intent.Marker}}"}}
    rows: {query: select words from notes where words = :marker}
`, address, path))
	reports := t.TempDir()
	p := start(t, nil, "run", "--parallel=1", "--target", target, "--reports", reports, writeFile(t, "long.yaml", long))
	eventually(t, "the run is under way", busyWith(reports, "long", 20))
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, p.wait(t), "%s", p.out)
	require.NotContains(t, p.out.String(), "LOST-ACKNOWLEDGED-WRITE")
}
