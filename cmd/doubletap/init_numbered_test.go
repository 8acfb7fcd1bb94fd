package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// invoices is a service with a key that numbers its invoices one after the other. The broken one looks for the greatest number before it has the
// lock under which it writes. With two books, a number counts within one of them, of which the other is far ahead; with "cents", within those of one
// amount.
func invoices(t *testing.T, word, within string, broken bool) (address, database string) {
	t.Helper()
	schema := "create table books (id integer primary key); insert into books values (1), (2); create table invoices (id integer primary key, request_key text not null unique, book integer not null references books (id), memo text not null, cents integer not null, number " + map[bool]string{false: "integer", true: "text"}[word != ""] + " not null)"
	if within == "books" {
		schema += fmt.Sprintf("; insert into invoices (request_key, book, memo, cents, number) values ('old', 2, 'old', 1, %s)", map[bool]string{false: "900", true: "'" + word + "00900'"}[word != ""])
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", schema)
	next := func(tx interface{ QueryRow(string, ...any) *sql.Row }, cents any) (number string) {
		n := 0
		if within == "balance" { // the number is what all of the book's amounts are together
			_ = tx.QueryRow("select coalesce((select number from invoices where book = 1 order by id desc limit 1), 0) + ?", cents).Scan(&n)
			return fmt.Sprint(n)
		}
		if within == "moments" { // each has the name of its moment, of which the lock makes another one
			return word + strconv.FormatInt(time.Now().UnixNano()/int64(5*time.Millisecond), 36)
		}
		_ = tx.QueryRow("select count(*) + 1 from invoices where book = 1 and (? or cents = ?)", within != "cents", cents).Scan(&n)
		if word == "" {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%s%05d", word, n)
	}
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, body := r.Header.Get("Idempotency-Key"), map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if key == "" {
			says(w, http.StatusBadRequest, `{"error":"no_key"}`)
			return
		}
		number := next(db, body["cents"])
		if broken {
			time.Sleep(2 * time.Millisecond)
		}
		tx, err := db.Begin()
		if err != nil {
			says(w, http.StatusInternalServerError, `{}`)
			return
		}
		defer tx.Rollback()
		id, memo, cents := 0, "", 0.0
		if tx.QueryRow("select id, memo, cents from invoices where request_key = ?", key).Scan(&id, &memo, &cents) != nil {
			if !broken {
				number = next(tx, body["cents"])
			}
			_ = tx.QueryRow("insert into invoices (request_key, book, memo, cents, number) values (?, 1, ?, ?, ?) returning id", key, body["memo"], body["cents"], number).Scan(&id)
		} else if memo != body["memo"] || cents != body["cents"] {
			says(w, http.StatusConflict, `{"error":"key_used"}`)
			return
		}
		if within == "moments" {
			if !broken {
				time.Sleep(5 * time.Millisecond)
			}
			_ = tx.QueryRow("select number from invoices where id = ?", id).Scan(&number)
			_ = tx.Commit()
			says(w, http.StatusCreated, fmt.Sprintf(`{"number":%q}`, number))
			return
		}
		_ = tx.Commit()
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitOfWhatIsNumbered holds that a number which creates at the same time share is a finding, where nothing but the service's own look gives
// each thing its number; not where it counts within something else.
func TestInitOfWhatIsNumbered(t *testing.T) {
	t.Parallel()
	for name, word := range map[string]string{"numbers": "", "texts": "INV-2027-"} {
		for _, broken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, broken: %t", name, broken), func(t *testing.T) {
				t.Parallel()
				address, database := invoices(t, word, "", broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: abc' -d '{"memo": "roof", "cents": 1250}' `+address+"/invoices", "--db", database)
				text := readFile(t, file)
				require.Contains(t, text, "where (invoices.number, invoices.book) in (select invoices.number, invoices.book from invoices where invoices.memo = :marker)", said)
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "distinct-twins", "burst-under-load")
				require.Equal(t, map[bool]int{false: exitPass, true: exitFinding}[broken], got.code, "%s\n%s", text, got)
			})
		}
		for _, within := range []string{"books", "cents"} {
			t.Run(name+", within "+within, func(t *testing.T) {
				t.Parallel()
				address, database := invoices(t, word, within, false)
				file, _ := initiated(t, map[string]string{"DATABASE_URL": database}, exitPass, "--curl", `curl -H 'Idempotency-Key: abc' -d '{"memo": "roof", "cents": 1250}' `+address+"/invoices", "--db", database)
				require.NotContains(t, readFile(t, file), "same-number")
			})
		}
	}
}

// TestInitOfABalanceAfterEachRow holds that two rows which have started from one balance are a finding.
func TestInitOfABalanceAfterEachRow(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		t.Run(fmt.Sprintf("broken: %t", broken), func(t *testing.T) {
			t.Parallel()
			address, database := invoices(t, "", "balance", broken)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: abc' -d '{"memo": "roof", "cents": 1250}' `+address+"/invoices", "--db", database)
			text := readFile(t, file)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "distinct-twins", "burst-under-load")
			require.Equal(t, map[bool]int{false: exitPass, true: exitFinding}[broken], got.code, "%s\n%s\n%s", said, text, got)
			require.Contains(t, text, "where (invoices.number, invoices.book) in (select invoices.number, invoices.book from invoices where invoices.memo = :marker)", said)
		})
	}
}

// TestInitOfANameOfTheMoment holds that two things which answers name by one number are a finding, whatever that is made of.
func TestInitOfANameOfTheMoment(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		t.Run(fmt.Sprintf("broken: %t", broken), func(t *testing.T) {
			t.Parallel()
			address, database := invoices(t, "R", "moments", broken)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: abc' -d '{"memo": "roof", "cents": 1250}' `+address+"/invoices", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "identity: /number", said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "distinct-twins", "burst-under-load")
			require.Equal(t, map[bool]int{false: exitPass, true: exitFinding}[broken], got.code, "%s\n%s\n%s", said, text, got)
		})
	}
}
