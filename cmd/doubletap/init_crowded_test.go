package main

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// crowd accepts parcels, each of which a worker makes after a while. It takes none of a name for which one waits, but the first of another body: its
// worker was quick then.
func crowd(t *testing.T, name func(h http.Header, memo string) string) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table parcels (id integer primary key, weight integer, memo text)")
	var lock sync.Mutex
	var made sync.WaitGroup
	t.Cleanup(made.Wait)
	waiting, quick := map[string]string{}, false
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Weight int
			Memo   string
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		called := name(r.Header, body.Memo)
		lock.Lock()
		defer lock.Unlock()
		one, waits := waiting[called]
		if !waits || one != body.Memo && !quick {
			quick = quick || waits
			waiting[called] = body.Memo
			made.Go(func() {
				time.Sleep(150 * time.Millisecond)
				_, _ = db.Exec("insert into parcels (weight, memo) values (?, ?)", body.Weight, body.Memo)
				lock.Lock()
				defer lock.Unlock()
				delete(waiting, called)
			})
		}
		says(w, http.StatusAccepted, `{"status": "accepted"}`)
	})), "sqlite://" + path
}

// TestInitOfAQueueThatTakesOneOfAName holds that a header for which a queue takes one waiting job is found, though another body made a row with it by
// chance; and that a header of which the queue knows nothing is no key.
func TestInitOfAQueueThatTakesOneOfAName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of      func(h http.Header, memo string) string
		has     string
		hasNone string
	}{
		"the header": {func(h http.Header, _ string) string { return h.Get("X-Request-Id") }, "key: {in: header, name: X-Request-Id", "natural_key: ["},
		"the body":   {func(_ http.Header, memo string) string { return memo }, "natural_key: [/memo]", "key: {in: header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := crowd(t, c.of)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'X-Request-Id: 8e03978e-40d5-43dd-bc93-6894a57f9324' -d '{"memo": "a parcel for Ada", "weight": 42}' `+address+"/parcels", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, c.has, said)
			require.NotContains(t, text, c.hasNone, said)
		})
	}
}
