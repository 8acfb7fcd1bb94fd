package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitLearnsHowARaceIsLost holds that existing takes the refusals of creates that lose a race under one natural key, which have another
// code than that of one that comes later. No question of init but that sends a create so often.
func TestInitLearnsHowARaceIsLost(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table articles (id integer primary key, title text unique)")
	var mu sync.Mutex
	sent := map[string]int{} // by title
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Title string }
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.Title == "" {
			says(w, http.StatusBadRequest, `{"code": "no_title"}`)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		sent[body.Title]++
		result, err := db.Exec("insert into articles (title) values (?)", body.Title)
		switch n := sent[body.Title]; {
		case err == nil:
			id, _ := result.LastInsertId()
			says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
		case n > 4 && n < 9:
			says(w, http.StatusConflict, `{"code": "edit_already_exists"}`)
		default:
			says(w, http.StatusConflict, `{"code": "article_exists"}`)
		}
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, got := initiated(t, env, exitPass, "--curl", `curl -d '{"title": "quick please"}' `+address+"/articles", "--db", env["DATABASE_URL"])
	require.Contains(t, readFile(t, file), "  existing: {statuses: [409]} # the value is taken\n", "%s", got)
	got = callWith(t.Context(), env, "run", "burst-same-key", "sequential-replay", "--reports", t.TempDir(), "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
}
