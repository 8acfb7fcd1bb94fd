package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// foundOrMade is a service whose creates find or make a row besides their own.
type foundOrMade struct {
	tables string
	curl   string // the create, but for its address
	handle func(db *sql.DB, broken bool, meet func(), key string, body map[string]any) (status int, answer string, err error)
}

// meeting lets two requests that come at the same time wait for each other: what they do then, they do at the same time.
func meeting() func() {
	met := make(chan struct{})
	return func() {
		select {
		case met <- struct{}{}:
		case <-met:
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// querier is a database, or a transaction there.
type querier interface {
	Exec(query string, args ...any) (sql.Result, error)
	QueryRow(query string, args ...any) *sql.Row
}

// open serves it.
func (f foundOrMade) open(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", f.tables)
	db.SetMaxOpenConns(4)
	meet := meeting()
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		key := r.Header.Get("Idempotency-Key")
		if json.NewDecoder(r.Body).Decode(&body) != nil || key == "" {
			says(w, http.StatusBadRequest, `{"error":"no_key"}`)
			return
		}
		status, answer, err := f.handle(db, broken, meet, key, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		says(w, status, answer)
	})), "sqlite://" + path
}

// play drafts a file, and runs it.
func (f foundOrMade) play(t *testing.T, broken bool, scenarios ...string) (text string, got outcome) {
	t.Helper()
	address, database := f.open(t, broken)
	env := map[string]string{"DATABASE_URL": database}
	file, _ := initiated(t, env, exitPass, "--curl", "curl -H 'Idempotency-Key: k-1' "+f.curl+" "+address+"/orders", "--db", database)
	return readFile(t, file), callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, scenarios...)...)
}

// TestInitOfACustomerWhoIsFoundOrMade holds that rows which follow from what bodies say are not counted as if each create made one: two orders of
// one customer have one row there. No two may have one address: the broken service looks for it, and makes two when requests come at the same time.
func TestInitOfACustomerWhoIsFoundOrMade(t *testing.T) {
	t.Parallel()
	for member, value := range map[string]string{"email": "ada@example.org", "name": "Ada Byron"} {
		f := ordersOf(member, value)
		for broken, exit := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(member, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				text, got := f.play(t, broken, "distinct-twins", "burst-same-key", "double-click")
				require.Contains(t, text, fmt.Sprintf("select count(%s) - count(distinct %s) from customers", member, member))
				require.Equal(t, exit, got.code, "%s\n%s", text, got)
				if broken {
					require.Contains(t, got.out, "same-customers-"+member)
				}
			})
		}
	}
}

// ordersOf takes orders of customers who are found or made by a member.
func ordersOf(member, value string) foundOrMade {
	return foundOrMade{
		tables: `create table customers (id integer primary key, ` + member + ` text not null);
			create table orders (id integer primary key, request_key text not null unique, customer_id integer not null references customers (id), item text not null, qty integer not null)`,
		curl: `-d '{"` + member + `":"` + value + `","item":"two lamps for the hall","qty":3}'`,
		handle: func(db *sql.DB, broken bool, meet func(), key string, body map[string]any) (status int, answer string, err error) {
			in, commit := querier(db), func() error { return nil }
			if !broken {
				tx, err := db.Begin()
				if err != nil {
					return 0, "", err
				}
				defer func() { _ = tx.Rollback() }()
				in, commit = tx, tx.Commit
			}
			id, item, customer := 0, "", 0
			known := func() error {
				return in.QueryRow("select id, item || qty from orders where request_key = ?", key).Scan(&id, &item)
			}
			if err = known(); errors.Is(err, sql.ErrNoRows) {
				find := func() error {
					return in.QueryRow("select id from customers where "+member+" = ? order by id", body[member]).Scan(&customer)
				}
				if err = find(); errors.Is(err, sql.ErrNoRows) {
					if broken {
						meet()
					}
					if _, err = in.Exec("insert into customers ("+member+") values (?)", body[member]); err == nil {
						err = find()
					}
				}
				if err == nil {
					_, err = in.Exec("insert into orders (request_key, customer_id, item, qty) values (?, ?, ?, ?) on conflict do nothing", key, customer, body["item"], body["qty"])
				}
				if err == nil {
					err = known()
				}
			}
			if err == nil {
				err = commit()
			}
			if err == nil && item != fmt.Sprint(body["item"], body["qty"]) {
				return http.StatusUnprocessableEntity, `{"error":"key_reused"}`, nil
			}
			return http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id), err
		},
	}
}

// TestInitOfWhatIsThereOnceForTwoThings holds that a second create with the same values under another key, which the database refuses by a
// constraint over several columns, is no new intent: each customer redeems a coupon once. The broken service counts a coupon that it then refuses.
func TestInitOfWhatIsThereOnceForTwoThings(t *testing.T) {
	t.Parallel()
	f := foundOrMade{
		tables: `create table coupons (code text primary key, redeemed integer not null); insert into coupons values ('SPRING', 0);
			create table redemptions (id integer primary key, request_key text not null unique, code text not null references coupons (code), customer text not null, unique (code, customer))`,
		curl: `-d '{"code":"SPRING","customer":"ada"}'`,
		handle: func(db *sql.DB, broken bool, meet func(), key string, body map[string]any) (status int, answer string, err error) {
			id, by := 0, ""
			known := func() error {
				return db.QueryRow("select id, request_key from redemptions where request_key = ?1 or (code = ?2 and customer = ?3) order by request_key = ?1 desc", key, body["code"], body["customer"]).Scan(&id, &by)
			}
			if err = known(); errors.Is(err, sql.ErrNoRows) {
				if broken {
					meet()
				}
				tx, err := db.Begin()
				if err != nil {
					return 0, "", err
				}
				defer func() { _ = tx.Rollback() }()
				there := 0
				if tx.QueryRow("select 1 from coupons where code = ?", body["code"]).Scan(&there) != nil {
					return http.StatusNotFound, `{"error":"no_such_coupon"}`, nil
				}
				made, err := makes(tx, "insert into redemptions (request_key, code, customer) values (?, ?, ?) on conflict do nothing", key, body["code"], body["customer"])
				if err == nil && (made || broken) {
					_, err = tx.Exec("update coupons set redeemed = redeemed + 1 where code = ?", body["code"])
				}
				if err == nil {
					err = tx.Commit()
				}
				if err != nil {
					return 0, "", err
				}
				err = known()
				if err != nil {
					return 0, "", err
				}
			}
			if by != key {
				return http.StatusConflict, `{"error":"already_redeemed"}`, nil
			}
			return http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id), nil
		},
	}
	for broken, exit := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			text, got := f.play(t, broken, "distinct-twins", "burst-same-key", "double-click", "fresh-key-retry")
			require.Contains(t, text, "natural_key: [/customer, /code]")
			require.Equal(t, exit, got.code, "%s\n%s", text, got)
			if broken {
				require.Contains(t, got.out, "coupons-redeemed")
			}
		})
	}
}

// TestInitOfARowThatCreatesShareAndThatCountsThem holds that a row which two creates share is not what they make, though it counts them: each makes a
// row that refers to it, which its answer names. The broken service counts before it looks whether the key is taken.
func TestInitOfARowThatCreatesShareAndThatCountsThem(t *testing.T) {
	t.Parallel()
	f := foundOrMade{
		tables: `create table species (id integer primary key, name text not null unique, trees integer not null);
			create table trees (id integer primary key, request_key text not null unique, species_id int not null references species (id), cm integer not null);
			insert into species values (70, 'Fagus sylvatica', 1); insert into trees values (3, 'k-0', 70, 12)`,
		curl: `-d '{"species":"Quercus robur","cm":120}'`,
		handle: func(db *sql.DB, broken bool, _ func(), key string, body map[string]any) (status int, answer string, err error) {
			tx, err := db.Begin()
			if err != nil {
				return 0, "", err
			}
			defer func() { _ = tx.Rollback() }()
			id, said := 0, ""
			known := func() error {
				return tx.QueryRow("select trees.id, name || cm from trees join species on species.id = species_id where request_key = ?", key).Scan(&id, &said)
			}
			err = known()
			if errors.Is(err, sql.ErrNoRows) || err == nil && broken && said == fmt.Sprint(body["species"], body["cm"]) {
				if _, err = tx.Exec("insert into species (name, trees) values (?, 1) on conflict do update set trees = trees + 1", body["species"]); err == nil {
					_, err = tx.Exec("insert into trees (request_key, species_id, cm) select ?, id, ? from species where name = ? on conflict do nothing", key, body["cm"], body["species"])
				}
				if err == nil {
					err = known()
				}
			}
			if err == nil {
				err = tx.Commit()
			}
			if err == nil && said != fmt.Sprint(body["species"], body["cm"]) {
				return http.StatusUnprocessableEntity, `{"error":"key_reused"}`, nil
			}
			return http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id), err
		},
	}
	for broken, exit := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			text, got := f.play(t, broken, "plain-create", "distinct-twins", "burst-same-key")
			require.Contains(t, text, "select coalesce(sum(trees), 0) from species")
			require.Contains(t, text, "missing_key: {statuses: [400]")
			require.Equal(t, exit, got.code, "%s\n%s", text, got)
			if broken {
				require.Contains(t, got.out, "species-trees")
			}
		})
	}
}

// TestInitOfAPaymentThatEachCreateOwes holds that a row which each create owes, and nothing links to it, is counted though two creates that say the
// same have one in the broken service: it takes the second payment of one amount for the first.
func TestInitOfAPaymentThatEachCreateOwes(t *testing.T) {
	t.Parallel()
	f := foundOrMade{
		tables: `create table orders (id integer primary key, request_key text not null unique, email text not null, item text not null, cents integer not null);
			create table payments (id integer primary key, email text not null, cents integer not null)`,
		curl: `-d '{"email":"ada@example.org","item":"two lamps for the hall","cents":1200}'`,
		handle: func(db *sql.DB, broken bool, _ func(), key string, body map[string]any) (status int, answer string, err error) {
			tx, err := db.Begin()
			if err != nil {
				return 0, "", err
			}
			defer func() { _ = tx.Rollback() }()
			made, err := makes(tx, "insert into orders (request_key, email, item, cents) values (?, ?, ?, ?) on conflict do nothing", key, body["email"], body["item"], body["cents"])
			if err == nil && made {
				_, err = tx.Exec("insert into payments (email, cents) select ?1, ?2 where not ?3 or not exists (select 1 from payments where email = ?1 and cents = ?2)", body["email"], body["cents"], broken)
			}
			id, said := 0, ""
			if err == nil {
				err = tx.QueryRow("select id, item || cents from orders where request_key = ?", key).Scan(&id, &said)
			}
			if err == nil {
				err = tx.Commit()
			}
			if err == nil && said != fmt.Sprint(body["item"], body["cents"]) {
				return http.StatusUnprocessableEntity, `{"error":"key_reused"}`, nil
			}
			return http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id), err
		},
	}
	for broken, exit := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			text, got := f.play(t, broken, "plain-create", "distinct-twins")
			require.Contains(t, text, "select count(*) from payments")
			require.Equal(t, exit, got.code, "%s\n%s", text, got)
		})
	}
}
