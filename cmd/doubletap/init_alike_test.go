package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitSeesThatEqualCreatesDiffer holds that what some creates make twice, each sent once, is neither the work of the amount that another body
// changes nor what a create is to make: the least stands in the file, which says so, and a run reports the rest.
func TestInitSeesThatEqualCreatesDiffer(t *testing.T) {
	t.Parallel()
	odd := func(n int64) bool { return n%2 == 1 }
	even := func(n int64) bool { return n%2 == 0 }
	for name, c := range map[string]struct {
		table, insert string
		twice         func(n int64) bool
		effect, said  string
	}{
		"mails, by a foreign key": {"create table sent_mails (id integer primary key, charge_id integer references charges (id))",
			"insert into sent_mails (charge_id) values (?)", even, "from sent_mails join", "equal creates made 1 and 2 rows"},
		"mails, the first as well": {"create table sent_mails (id integer primary key, charge_id integer references charges (id))",
			"insert into sent_mails (charge_id) values (?)", odd, "from sent_mails join", "equal creates made 1 and 2 rows"},
		"jobs, by a name": {"create table jobs (id integer primary key, charge_id integer)",
			"insert into jobs (charge_id) values (?)", even, "from jobs join", "equal creates made 1 and 2 rows"},
		"postings, which are no messages": {"create table postings (id integer primary key, charge_id integer references charges (id))",
			"insert into postings (charge_id) values (?)", odd, "from postings join", "equal creates made 1 and 2 rows"},
		"inside of a document": {"create table outbox (id integer primary key, payload text)",
			"insert into outbox (payload) select json_object('memo', memo, 'amount', amount) from charges where id = ?", odd, "from outbox where", "equal creates made 1 and 2 rows"},
		"the same mail twice, always": {"create table sent_mails (id integer primary key, charge_id integer references charges (id), subject text)",
			"insert into sent_mails (charge_id, subject) values (?, 'Your charge')", func(int64) bool { return true }, "from sent_mails join", "differ in nothing but their numbers and times"},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", "create table charges (id integer primary key, memo text, amount integer, k text unique); "+c.table)
				address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var body struct {
						Memo   string
						Amount int
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					var id int64
					key, amount := r.Header.Get("Idempotency-Key"), body.Amount
					if !inTransaction(w, db, func(tx *sql.Tx) error {
						if tx.QueryRow("insert into charges (memo, amount, k) values (?, ?, ?) on conflict do nothing returning id", body.Memo, body.Amount, key).Scan(&id) == nil {
							for range 1 + map[bool]int{true: 1}[broken && c.twice(id)] {
								_, _ = tx.Exec(c.insert, id)
							}
							return nil
						}
						return tx.QueryRow("select id, amount from charges where k = ?", key).Scan(&id, &amount)
					}) {
						return
					}
					if amount != body.Amount {
						says(w, http.StatusConflict, `{"error":"the key was used for another charge"}`)
						return
					}
					says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
				}))
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"memo": "lamp for the hall", "amount": 25}' `+address+"/charges", "--db", env["DATABASE_URL"])
				text := strings.ReplaceAll(readFile(t, file), "\n# ", " ")
				require.Contains(t, text, c.effect, said)
				require.Contains(t, text, "\n        rows: 1\n", said)
				require.Contains(t, text, "alter: {amount: 26}")
				require.Equal(t, broken, strings.Contains(text, c.said), text)
				require.Equal(t, broken, strings.Contains(text, "How many rows a create makes"), text)
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
				require.Equal(t, broken, strings.Contains(got.out, "effect-mismatch"), got)
			})
		}
	}
}

// TestInitSeesThatACreateIsDoneTwiceByChance holds that rows of a create which others do not make are no rows that one is to make: neither where the
// very create is done twice by which the rows are found, nor where it is the one that is repeated.
func TestInitSeesThatACreateIsDoneTwiceByChance(t *testing.T) {
	t.Parallel()
	none := func(int64) bool { return false }
	each := func(int64) bool { return true }
	odd := func(n int64) bool { return n%2 == 1 }
	even := func(n int64) bool { return n%2 == 0 }
	const plain, ofTwo = `query: "select celsius, device from readings where readings.device = :marker"`, "- 1) % 2 = 0"
	for name, c := range map[string]struct {
		twice        func(n int64) bool
		rows         int // that a create is to make
		late         time.Duration
		named        bool
		query, doubt string
	}{
		"none":              {none, 1, 0, false, plain, ""},
		"none, of two":      {none, 2, 0, false, ofTwo, "It may be done twice each time."},
		"none, later":       {none, 1, time.Second, false, plain, ""},
		"each, later":       {each, 1, time.Second, false, plain, "How many rows a create makes in readings: each that was sent once made 2, behind its answer"},
		"none, named":       {none, 1, 0, true, "select id, celsius, device from readings where", ""},
		"the first":         {odd, 1, 0, false, plain, "equal creates made 1 and 2 rows"},
		"the second":        {even, 1, 0, false, plain, "equal creates made 1 and 2 rows"},
		"the first, named":  {odd, 1, 0, true, "select id, celsius, device from readings where", "equal creates made 1 and 2 rows"},
		"the first, later":  {odd, 1, time.Second, false, plain, "equal creates made 1 and 2 rows"},
		"the first, of two": {odd, 2, 0, false, ofTwo, "equal creates made 2 and 4 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `
				create table inbox (id integer primary key, k text unique, sent text);
				create table readings (id integer primary key, device text, celsius real)`)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Device  string
					Celsius float64
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				key, sent := r.Header.Get("Idempotency-Key"), fmt.Sprint(body)
				var n int64
				if db.QueryRow("insert into inbox (k, sent) values (?, ?) on conflict do nothing returning id", key, sent).Scan(&n) == nil {
					work := func() {
						for range c.rows * (1 + map[bool]int{true: 1}[c.twice(n)]) {
							_, _ = db.Exec("insert into readings (device, celsius) values (?, ?)", body.Device, body.Celsius)
						}
					}
					if c.late > 0 {
						time.AfterFunc(c.late, work)
					} else {
						work()
					}
				} else if db.QueryRow("select 1 from inbox where k = ? and sent = ?", key, sent).Scan(&n) != nil {
					says(w, http.StatusConflict, `{"error":"the key was used for another reading"}`)
					return
				}
				var id int64
				switch _ = db.QueryRow("select min(id) from readings where device = ?", body.Device).Scan(&id); {
				case c.late > 0:
					says(w, http.StatusAccepted, `{"accepted":true}`)
				case c.named:
					says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
				default:
					says(w, http.StatusOK, `{"taken":true}`)
				}
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"device": "the cellar", "celsius": 18.5}' `+address+"/readings", "--db", env["DATABASE_URL"])
			text := strings.ReplaceAll(readFile(t, file), "\n# ", " ")
			require.Contains(t, text, c.query, said)
			require.Contains(t, text, "on_mismatch: reject")
			require.NotContains(t, text, "Whether keys are honoured")
			require.Contains(t, text, c.doubt)
			uneven := c.twice(1) || c.twice(2)
			require.Equal(t, uneven, strings.Contains(text, "How many rows a create makes"), text)
			want, finding := exitPass, ""
			if uneven {
				want, finding = exitFinding, "duplicate"
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
			require.Equal(t, want, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, finding)
		})
	}
}

// TestARunWhereSomeCreatesMakeLessThanInitSaw holds that creates of which each made two equal rows when init looked, and only some do in a run, are
// a finding of that run and no mistake in its file.
func TestARunWhereSomeCreatesMakeLessThanInitSaw(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `
		create table readings (id integer primary key, device text, celsius real);
		create table inbox (n integer primary key, k text unique)`)
	db.SetMaxOpenConns(1)
	var seen atomic.Bool
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Device  string
			Celsius float64
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		var n int64
		if db.QueryRow("insert into inbox (k) values (?) on conflict do nothing returning n", r.Header.Get("Idempotency-Key")).Scan(&n) == nil {
			for range 1 + map[bool]int{true: 1}[!seen.Load() || n%2 == 0] {
				_, _ = db.Exec("insert into readings (device, celsius) values (?, ?)", body.Device, body.Celsius)
			}
		}
		says(w, http.StatusOK, `{"taken":true}`)
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"device": "the cellar", "celsius": 18.5}' `+address+"/readings", "--db", env["DATABASE_URL"])
	require.Contains(t, strings.ReplaceAll(readFile(t, file), "\n# ", " "), "It may be done twice each time.", said)
	seen.Store(true)
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
	require.Equal(t, exitFinding, got.code, got)
	require.Contains(t, got.out, "effect-mismatch")
}
