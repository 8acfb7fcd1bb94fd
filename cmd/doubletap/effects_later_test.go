package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// behind is a service of which a job writes the lines of an order, and takes from the stock, some time after the answer. With each, a
// repetition starts the job again, though it makes no second order.
func behind(t *testing.T, each bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table orders (id integer primary key, key text unique, note text);
		create table lines (id integer primary key, order_id integer references orders (id));
		create table stock (item text primary key, taken integer);
		insert into stock values ('lamp', 0)`)
	const later = 300 * time.Millisecond
	job := func(key string) {
		time.Sleep(later)
		_, err := db.ExecContext(context.Background(), "insert into lines (order_id) select id from orders where key = ?; update stock set taken = taken + 1", key)
		if err != nil {
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
			go job(key)
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
				address, database := behind(t, each)
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
