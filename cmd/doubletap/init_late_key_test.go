package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lateKeys is a service that looks for keys in a copy of its table, which is behind it. Only the correct one lets the table refuse a second row.
func lateKeys(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	const behind = 400 * time.Millisecond
	type report struct {
		id    int
		title string
		pages float64
		from  time.Time
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table reports (id integer primary key, request_key text not null"+map[bool]string{false: " unique"}[broken]+", title text not null, pages integer not null)")
	copied, mu := map[string]report{}, sync.Mutex{}
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Title string
			Pages float64
		}
		key := r.Header.Get("X-Report-Key")
		if json.NewDecoder(r.Body).Decode(&body) != nil || key == "" || body.Title == "" {
			says(w, http.StatusBadRequest, `{"error":"invalid"}`)
			return
		}
		mu.Lock()
		one, known := copied[key]
		mu.Unlock()
		if !known || time.Now().Before(one.from) {
			one = report{title: body.Title, pages: body.Pages, from: time.Now().Add(behind)}
			err := db.QueryRow("insert into reports (request_key, title, pages) values (?, ?, ?) on conflict do nothing returning id", key, one.title, one.pages).Scan(&one.id)
			if err == sql.ErrNoRows {
				_ = db.QueryRow("select id, title, pages from reports where request_key = ?", key).Scan(&one.id, &one.title, &one.pages)
			}
			mu.Lock()
			if _, known := copied[key]; !known {
				copied[key] = one
			}
			mu.Unlock()
		}
		if one.title != body.Title || one.pages != body.Pages {
			says(w, http.StatusConflict, `{"error":"key_used"}`)
			return
		}
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, one.id))
	})), "sqlite://" + path
}

// TestInitOfAKeyThatIsKnownLate holds that a header is the key where a repetition right behind the first makes a second row, if a later one makes
// none: a run says so.
func TestInitOfAKeyThatIsKnownLate(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		t.Run(fmt.Sprintf("broken: %t", broken), func(t *testing.T) {
			t.Parallel()
			address, database := lateKeys(t, broken)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'X-Report-Key: abc' -d '{"title": "May", "pages": 3}' `+address+"/reports", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "key: {in: header, name: X-Report-Key", said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "burst-same-key")
			require.Equal(t, map[bool]int{false: exitPass, true: exitFinding}[broken], got.code, "%s\n%s", text, got)
		})
	}
}
