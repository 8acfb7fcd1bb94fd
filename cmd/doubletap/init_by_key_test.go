package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// purse is a service that adds to a balance, and keeps of a request nothing but its key: a header, or a member of the body.
type purse struct {
	inBody bool   // the key is the member event_id
	says   string // how it compares bodies; empty: it does not
	begin  int    // balance
	keeps  bool   // the key of what is refused, too
	logs   bool   // each request with its key, of which it keeps a digest alone
	hidden bool   // the balances are elsewhere
	makes  bool   // a purse that is not there
}

// open serves top-ups of the purse 7. The broken one adds before it claims the key.
func (p purse) open(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", fmt.Sprintf(`
		create table purses (id integer primary key, owner text not null, balance integer not null);
		insert into purses values (7, 'ada', %d), (8, 'bob', 40), (9, 'cyd', 0);
		create table seen_keys (request_key text primary key, said text, status integer not null, answer text not null);
		create table request_log (id integer primary key, request_key text not null)`, p.begin))
	db.SetMaxOpenConns(1)
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b struct {
			Event        string `json:"event_id"`
			Purse, Cents int
		}
		written, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(written, &b)
		key := r.Header.Get("Idempotency-Key")
		if p.inBody {
			key = b.Event
		}
		if key == "" {
			says(w, http.StatusBadRequest, `{"error":"no_key"}`)
			return
		}
		if p.logs {
			_, _ = db.Exec("insert into request_log (request_key) values (?)", key)
			key = fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
		}
		said := map[string]string{"digest": fmt.Sprintf("%x", sha256.Sum256(written)), "text": string(written)}[p.says]
		tell := func() error {
			var before, answer string
			var status int
			err := db.QueryRow("select said, status, answer from seen_keys where request_key = ?", key).Scan(&before, &status, &answer)
			switch {
			case err == nil && before != said:
				says(w, http.StatusUnprocessableEntity, `{"error":"key_reused"}`)
			case err == nil:
				says(w, status, answer)
			}
			return err
		}
		add := func(on interface {
			Exec(query string, args ...any) (sql.Result, error)
		}) (bool, error) {
			switch {
			case p.hidden:
				return true, nil
			case p.makes:
				return makes(on, "insert into purses values (?, 'new', ?) on conflict (id) do update set balance = balance + excluded.balance", b.Purse, b.Cents)
			}
			return makes(on, "update purses set balance = balance + ? where id = ?", b.Cents, b.Purse)
		}
		if err := tell(); !errors.Is(err, sql.ErrNoRows) {
			return
		}
		const claim = "insert into seen_keys (request_key, said, status, answer) values (?, ?, ?, ?) on conflict do nothing"
		if b.Cents <= 0 {
			if p.keeps {
				_, _ = db.Exec(claim, key, said, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
			}
			says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
			return
		}
		if broken {
			time.Sleep(20 * time.Millisecond)
			if found, err := add(db); err != nil || !found {
				says(w, http.StatusNotFound, `{"error":"no_such_purse"}`)
				return
			}
		}
		if inTransaction(w, db, func(tx *sql.Tx) error {
			claimed, err := makes(tx, claim, key, said, http.StatusOK, `{"ok":true}`)
			if claimed && !broken && err == nil {
				if found, _ := add(tx); !found {
					err = errors.New("no such purse")
				}
			}
			return err
		}) {
			_ = tell()
		}
	})), "sqlite://" + path
}

// TestInitOfABalanceThatIsAllThatACreateChanges holds that creates which keep nothing but their key are found by it, that the balance is watched, and that
// another body is sent where a column tells by which of them a key was claimed.
func TestInitOfABalanceThatIsAllThatACreateChanges(t *testing.T) {
	t.Parallel()
	const header = ` -H 'Idempotency-Key: k-1' -d '{"purse": 7, "cents": 500}' `
	for name, c := range map[string]struct {
		purse
		create string
		says   []string // in the file
	}{
		"the key is an event's": {
			purse{inBody: true, says: "text", begin: 100}, ` -d '{"event_id": "evt_4711ab", "purse": 7, "cents": 500}' `,
			[]string{`= :marker`, `select coalesce(sum(purses.balance), 0) - (select 500 * count(*) from seen_keys where seen_keys.status between 200 and 299)`},
		},
		"a digest tells the body": {
			purse{says: "digest", begin: 100}, header,
			[]string{`= :key`, `alter: {cents: 501}`, `then 500 when seen_keys.said = `, `then 501 else 0 end`},
		},
		"nothing tells the body": {
			purse{begin: 100}, header,
			[]string{`= :key`, `select coalesce(sum(purses.balance), 0) - (select 500 * count(*) from seen_keys where seen_keys.status between 200 and 299)`, "# - Whether another body under the same key is refused"},
		},
		"what is refused keeps its key": {
			purse{begin: 100, says: "digest", keeps: true}, header,
			[]string{`= :key and seen_keys.status = 200`, `from seen_keys where seen_keys.status between 200 and 299)`},
		},
		"the first create makes the purse": {
			purse{says: "digest", makes: true}, ` -H 'Idempotency-Key: k-1' -d '{"purse": 70, "cents": 500}' `,
			[]string{`= :key`, `then 500 when seen_keys.said = `},
		},
		"the first amount is the balance": {
			purse{says: "digest"}, header,
			[]string{`= :key`, `then 500 when seen_keys.said = `},
		},
	} {
		for broken, exit := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := c.open(t, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", "curl"+c.create+address+"/topups", "--db", database)
				text := readFile(t, file)
				for _, part := range c.says {
					require.Contains(t, text, part, said.err)
				}
				if c.purse.says == "" {
					require.NotContains(t, text, "\n    alter:")
				}
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, raced[:1:1]...)...)
				require.Equal(t, exitPass, got.code, got)
				got = callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, raced...)...)
				require.Equal(t, exit, got.code, got)
				if broken {
					require.Contains(t, got.out, "effect-mismatch")
				}
			})
		}
	}
}

// TestInitOfKeysThatAreNoCreates holds that what keeps keys is taken for no created thing where it has a row for each request, or where nothing
// else is seen to change: a run would pass whatever creates make.
func TestInitOfKeysThatAreNoCreates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		purse
		says string
	}{
		"a log of requests":      {purse{begin: 100, logs: true}, "request_log has a row for each request"},
		"what is made elsewhere": {purse{begin: 100, hidden: true, says: "digest"}, "nothing but seen_keys was seen to change"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := c.open(t, false)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"purse": 7, "cents": 500}' `+address+"/topups", "--db", database)
			require.Contains(t, said.err, c.says)
			require.NotContains(t, readFile(t, file), ":key")
		})
	}
}
