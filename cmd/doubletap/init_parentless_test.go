package main

import (
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// transfer is what the services of these tests take.
type transfer struct {
	Key, Memo string
	Cents     int64
}

// transfers is a service that makes a row for a key, and answers a repetition with the first one's. post is told of each create before its row is made,
// with the id that it would have, or behind it, and whether that was made.
func transfers(t *testing.T, db *sql.DB, first, post func(id string, of transfer), replayed bool) string {
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := transfer{Key: r.Header.Get("Idempotency-Key")}
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.Key == "" || body.Memo == "" || body.Cents < 1 {
			says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
			return
		}
		id, memo, cents := "", "", int64(0)
		get := func() error {
			return db.QueryRow("select id, memo, cents from transfers where k = ?", body.Key).Scan(&id, &memo, &cents)
		}
		if get() != nil || replayed {
			made := rand.Text()
			first(made, body)
			result, err := db.Exec("insert into transfers values (?, ?, ?, ?) on conflict do nothing", made, body.Key, body.Memo, body.Cents)
			if err == nil {
				if n, _ := result.RowsAffected(); n > 0 {
					post(made, body)
				}
			}
			_ = get()
		}
		if memo != body.Memo || cents != body.Cents {
			says(w, http.StatusUnprocessableEntity, `{"error":"key_reused"}`)
			return
		}
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%q,"cents":%d}`, id, cents))
	}))
}

// TestInitOfRowsThatReferToNothing holds that rows which a create has made for a thing that another one made first are found, though no foreign
// key says that they belong to one, and no row query leads to them: where it lost a race, and where it is repeated. Rows that refer to things of
// another kind are none of those, and neither are those of things that were moved away.
func TestInitOfRowsThatReferToNothing(t *testing.T) {
	t.Parallel()
	const tables = `
		create table transfers (id text primary key, k text not null unique, memo text not null, cents integer not null);
		create table postings (id integer primary key, transfer_id text not null, account text not null, cents integer not null);
		create table remarks (id integer primary key, subject_type text not null, subject_id text not null, text text not null);
		create table old_transfers (id text primary key, k text not null unique, memo text not null, cents integer not null);`
	for name, one := range map[string]struct {
		want     int
		holds    string
		lacks    string
		lost     bool // a create that loses a race has left its postings
		repeated bool // and one that is repeated
		remarks  bool // each repetition leaves a remark of its key, and each row has one
		moves    bool // rows are moved after a while
		old      bool // postings of transfers are there that are not any more
	}{
		"none":     {want: exitPass, holds: "name: postings-without-transfers", lacks: "may refer to no row"},
		"lost":     {want: exitFinding, holds: "name: postings-without-transfers", lost: true},
		"repeated": {want: exitFinding, holds: "came to, after creates that were repeated", lost: true, repeated: true},
		"remarks":  {want: exitPass, holds: "subject_type = 'transfer' and not exists", lacks: "may refer to no row", remarks: true},
		"moved":    {want: exitPass, holds: "are moved to old_transfers", lacks: "-without-", moves: true},
		"old":      {want: exitPass, holds: "1 did before anything was sent twice", lacks: "came to, after", old: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", tables)
			exec := func(query string, args ...any) { _, _ = db.Exec(query, args...) }
			postings := func(id string, of transfer) {
				exec("insert into postings (transfer_id, account, cents) values (?1, 'cash', -?2), (?1, 'sales', ?2)", id, of.Cents)
			}
			if one.old {
				postings("gone", transfer{Cents: 3})
				exec("delete from postings where cents > 0")
			}
			address := transfers(t, db, func(id string, of transfer) {
				if one.remarks {
					exec("insert into remarks (subject_type, subject_id, text) select 'key', ?1, 'seen again' where exists (select 1 from transfers where k = ?1)", of.Key)
				}
				if one.lost {
					postings(id, of)
					time.Sleep(2 * time.Millisecond)
				}
			}, func(id string, of transfer) {
				if one.remarks {
					exec("insert into remarks (subject_type, subject_id, text) values ('transfer', ?, 'made')", id)
				}
				if !one.lost {
					postings(id, of)
				}
				if one.moves {
					time.AfterFunc(4*time.Second, func() {
						if tx, err := db.Begin(); err == nil {
							_, _ = tx.Exec("insert into old_transfers select * from transfers where id = ?", id)
							_, _ = tx.Exec("delete from transfers where id = ?", id)
							_ = tx.Commit()
						}
					})
				}
			}, one.repeated || one.remarks)
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"memo": "rent of march", "cents": 300}' `+address+"/transfers", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			plain := strings.ReplaceAll(text, "\n# ", " ")
			require.Contains(t, plain, one.holds, said)
			if one.lacks != "" {
				require.NotContains(t, plain, one.lacks)
			}
			if one.moves {
				return
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "burst-same-key")
			require.Equal(t, one.want, got.code, "%s\n%s", text, got)
		})
	}
}
