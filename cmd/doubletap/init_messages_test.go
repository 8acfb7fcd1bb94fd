package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitCountsMessages holds that what a create leaves to be sent is counted, though it may be taken away when it is sent: where a foreign
// key says that it belongs to the created row, where a column is called as one, and where the marker is inside of a document. The broken one
// of each leaves a message for a repetition, too.
func TestInitCountsMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table, insert string
		effect        string
	}{
		"a foreign key":   {"create table sent_mails (id integer primary key, charge integer references charges (id))", "insert into sent_mails (charge) values (?)", "select 1 from sent_mails join charges on sent_mails.charge = charges.id where charges.memo = :marker"},
		"a name":          {"create table mails (id integer primary key, charge_id integer)", "insert into mails (charge_id) values (?)", "select 1 from mails join charges on mails.charge_id = charges.id where charges.memo = :marker"},
		"inside of JSON":  {"create table outbox (id integer primary key, topic text, payload text)", `insert into outbox (topic, payload) select 'charged', json_object('memo', memo, 'total', 5) from charges where id = ?`, "select 1 from outbox where outbox.payload like '%' || :marker || '%'"},
		"taken when sent": {"create table outbox (id integer primary key, charge_id integer)", "insert into outbox (charge_id) values (?)", "select 1 from outbox join charges on outbox.charge_id = charges.id where charges.memo = :marker"},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", "create table charges (id integer primary key, ref text unique, memo text); "+c.table)
				address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var body struct{ Ref, Memo string }
					_ = json.NewDecoder(r.Body).Decode(&body)
					id, status := int64(0), http.StatusOK
					if !inTransaction(w, db, func(tx *sql.Tx) error {
						made, err := makes(tx, "insert into charges (ref, memo) values (?, ?) on conflict do nothing", body.Ref, body.Memo)
						if made {
							status = http.StatusCreated
						}
						err = cmp.Or(err, tx.QueryRow("select id from charges where ref = ?", body.Ref).Scan(&id))
						if err == nil && (made || broken) {
							_, err = tx.Exec(c.insert, id)
						}
						return err
					}) {
						return
					}
					if name == "taken when sent" && !broken {
						_, _ = db.Exec("delete from outbox where charge_id < ?", id-20)
					}
					says(w, status, fmt.Sprintf(`{"id":%d}`, id))
				}))
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"ref": "ch-2026-17", "memo": "lamp for the hall"}' `+address+"/charges", "--db", env["DATABASE_URL"])
				text := readFile(t, file)
				require.Contains(t, text, c.effect, said)
				require.Contains(t, text, "delivery: at-most-once")
				require.Equal(t, broken, strings.Contains(text, "may have more rows"), text, said)
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// TestInitSeesThatSomeCreatesSendTwice holds that the least is what a create sends, where some send more though nothing is repeated, and that a
// run reports it and does not take it for a mistake in the file.
func TestInitSeesThatSomeCreatesSendTwice(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table charges (id integer primary key, memo text, k text unique); create table sent_mails (id integer primary key, charge_id integer references charges (id))")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Memo string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		var id int64
		key := r.Header.Get("Idempotency-Key")
		if db.QueryRow("insert into charges (memo, k) values (?, ?) on conflict do nothing returning id", body.Memo, key).Scan(&id) == nil {
			_, _ = db.Exec("insert into sent_mails (charge_id) select ? union all select ? where ? % 2 = 0", id, id, id)
		} else {
			_ = db.QueryRow("select id from charges where k = ?", key).Scan(&id)
		}
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"memo": "lamp for the hall"}' `+address+"/charges", "--db", env["DATABASE_URL"])
	text := strings.ReplaceAll(readFile(t, file), "\n# ", " ")
	require.Contains(t, text, "of creates that were each sent once, some made more than others. The file has the least, 1", said)
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
	require.Equal(t, exitFinding, got.code, "%s\n%s", text, got)
	require.Contains(t, got.out, "effect-mismatch")
}
