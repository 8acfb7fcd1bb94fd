package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// behind is a service of which a job writes the lines of an order, one after the other, and takes from the stock, some time after the
// answer. With each, a repetition starts the job again, though it makes no second order.
func behind(t *testing.T, lines int, later time.Duration, each bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table orders (id integer primary key, key text unique, note text);
		create table lines (id integer primary key, order_id integer references orders (id));
		create table stock (item text primary key, taken integer);
		insert into stock values ('lamp', 0)`)
	var jobs sync.WaitGroup
	t.Cleanup(jobs.Wait)
	job := func(key string) {
		time.Sleep(later)
		for line := range lines {
			if line > 0 {
				time.Sleep(later)
			}
			if _, err := db.ExecContext(context.Background(), "insert into lines (order_id) select id from orders where key = ?", key); err != nil {
				t.Log(err)
			}
		}
		if _, err := db.ExecContext(context.Background(), "update stock set taken = taken + 1"); err != nil {
			t.Log(err)
		}
	}
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order struct{ Note string }
		_ = json.NewDecoder(r.Body).Decode(&order)
		key := r.Header.Get("Idempotency-Key")
		made, err := db.ExecContext(r.Context(), "insert into orders (key, note) values (?, ?) on conflict do nothing", key, order.Note)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if n, _ := made.RowsAffected(); n == 1 || each {
			jobs.Go(func() { job(key) })
		}
		says(w, http.StatusCreated, `{"key":"`+key+`"}`)
	})), "sqlite://" + path
}

// TestEffectsMayComeBehindTheAnswer holds that child rows and totals which a job writes later are waited for, and that one which is
// written twice is found all the same.
func TestEffectsMayComeBehindTheAnswer(t *testing.T) {
	t.Parallel()
	effects := map[string]string{
		"lines": `{name: lines, query: "select 1 from lines join orders on orders.id = order_id where note = :marker", rows: 1}`,
		"stock": `{name: stock, query: "select sum(taken) from stock", delta: 1}`,
	}
	for name, effect := range effects {
		for _, each := range []bool{false, true} {
			want := exitPass
			if each {
				name, want = name+", twice", exitFinding
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				address, database := behind(t, 1, 300*time.Millisecond, each)
				file := filepath.Join(t.TempDir(), "behind.yaml")
				require.NoError(t, os.WriteFile(file, []byte(`name: behind
base_url: `+address+`
database: {url: "`+database+`"}
operations:
  create_order:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    rows: {query: "select id from orders where note = :marker"}
    effects: [`+effect+`]
`), 0o600))
				x := trial{reports: t.TempDir()}
				got := callWith(t.Context(), nil, "run", "--target", file, "--reports", x.reports, "--seed", "1", "sequential-replay")
				require.Equal(t, want, got.code, "%s", got)
				x.checked(t, got)
				if each {
					require.Contains(t, got.out, "effect-mismatch")
				}
			})
		}
	}
}

// TestInitCountsChildRowsThatComeBehindTheAnswer holds that those which a job writes later are counted all, in the file that init writes.
func TestInitCountsChildRowsThatComeBehindTheAnswer(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]bool{"once": false, "twice": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := behind(t, 3, 20*time.Millisecond, each)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note":"two lamps"}' `+address+"/orders", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "\n      - name: lines\n")
			require.Contains(t, text, "\n        rows: 3\n")
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay")
			require.Equal(t, map[bool]int{false: exitPass, true: exitFinding}[each], got.code, "%s", got)
		})
	}
}
