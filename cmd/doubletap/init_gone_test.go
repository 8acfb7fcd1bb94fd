package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// moving is a service with keys of which a job takes away what is older than a moment: to an archive, where the broken one looks for no key, or for good.
func moving(t *testing.T, archive, broken, rekeyed bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `create table orders (id integer primary key, idem text unique, note text, qty integer, at real);
		create table orders_archive (id integer primary key, idem text, note text, qty integer, at real); create table claims (idem text primary key, id integer)`)
	id := "id"
	if rekeyed { // the archive has keys of its own
		id = "id + 100000"
	}
	old := func() {
		tx, err := db.Begin()
		if err != nil {
			return
		}
		defer func() { _ = tx.Rollback() }()
		before := float64(time.Now().UnixMilli() - 700)
		if archive {
			if _, err := tx.Exec("insert into orders_archive select "+id+", idem, note, qty, at from orders where at < ?", before); err != nil {
				return
			}
		}
		if _, err := tx.Exec("delete from orders where at < ?", before); err == nil {
			_ = tx.Commit()
		}
	}
	go func() {
		for {
			select {
			case <-t.Context().Done():
				return
			case <-time.After(200 * time.Millisecond):
				old()
			}
		}
	}()
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Note string
			Qty  int
		}
		key := r.Header.Get("Idempotency-Key")
		if json.NewDecoder(r.Body).Decode(&body) != nil || key == "" {
			says(w, http.StatusBadRequest, `{"error":"invalid"}`)
			return
		}
		tx, err := db.Begin()
		if err != nil {
			says(w, http.StatusInternalServerError, `{}`)
			return
		}
		defer func() { _ = tx.Rollback() }()
		id, table := 0, "claims"
		if broken {
			table = "orders"
		}
		if tx.QueryRow("select id from "+table+" where idem = ?", key).Scan(&id) != nil {
			if err := tx.QueryRow("insert into orders (id, idem, note, qty, at) values ((select 1 + coalesce(max(id), 0) from (select id from orders union select id from orders_archive union select id from claims)), ?, ?, ?, ?) returning id", key, body.Note, body.Qty, float64(time.Now().UnixMilli())).Scan(&id); err != nil {
				says(w, http.StatusInternalServerError, `{}`)
				return
			}
			_, _ = tx.Exec("insert or ignore into claims values (?, ?)", key, id)
		}
		if tx.Commit() == nil {
			says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
		}
	})), "sqlite://" + path
}

// TestInitOfRowsThatAreMoved holds that rows are counted where a job has moved them, too, and that the file says so where rows go away for good.
func TestInitOfRowsThatAreMoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		archive, broken, rekeyed bool
		want                     int
		says                     string
	}{
		"to an archive":                    {true, false, false, exitPass, "union select id, qty, note from orders_archive"},
		"to an archive, without their key": {true, true, false, exitFinding, "union select id, qty, note from orders_archive"},
		"away":                             {false, false, false, exitFinding, "Whether rows of orders stay"},
		"to other keys":                    {true, false, true, exitPass, "union all select qty, note from orders_archive"},
		"to other keys, without their key": {true, true, true, exitFinding, "union all select qty, note from orders_archive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := moving(t, c.archive, c.broken, c.rekeyed)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: abc-1' -d '{"note": "lamp", "qty": 2}' `+address+"/orders", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, c.says, said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "late-retry")
			require.Equal(t, c.want, got.code, "%s\n%s", text, got)
		})
	}
}
