package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// loyalty is how a shop gives points for purchases: by statements of which ?1 is the amount and ?2 the customer.
type loyalty struct {
	tables string // besides that of the purchases
	refers string // type of the column that says who buys; empty: a text
	raise  []string
	asked  string // statement of each request; empty: none
	cents  int    // of the sample
	who    string // JSON, of the sample; empty: ada
}

// byName finds a customer by a name that is unique, and to which no foreign key refers.
const byName = `create table customers (id integer primary key, name text not null unique, points integer not null default 0, purchases_made integer not null default 0);
	insert into customers (name) values ('ada'), ('bob');`

// perHundred gives a point for each full hundred of the amount.
var perHundred = []string{"update customers set points = points + cast(?1 / 100 as integer) where name = ?2"}

// open serves purchases, of which each has a key. The broken one gives the points before it claims the key.
func (l loyalty) open(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", l.tables+`;
		create table purchases (id integer primary key, request_key text not null unique, customer `+cmp.Or(l.refers, "text not null")+`, note text not null, cents integer not null)`)
	db.SetMaxOpenConns(1) // who waits for it has their turn; who waits in SQLite may starve
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			Customer any
			Note     string
			Cents    int
		}
		_ = json.NewDecoder(r.Body).Decode(&p)
		key := r.Header.Get("Idempotency-Key")
		if key == "" || p.Note == "" || p.Cents <= 0 {
			says(w, http.StatusBadRequest, `{"error":"invalid"}`)
			return
		}
		if l.asked != "" {
			_, _ = db.Exec(l.asked, p.Cents, p.Customer)
		}
		tell := func() error {
			var id, cents int
			var note string
			err := db.QueryRow("select id, note, cents from purchases where request_key = ?", key).Scan(&id, &note, &cents)
			switch {
			case err == nil && (note != p.Note || cents != p.Cents):
				says(w, http.StatusUnprocessableEntity, `{"error":"key_reused"}`)
			case err == nil:
				says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d,"cents":%d}`, id, cents))
			}
			return err
		}
		if err := tell(); !errors.Is(err, sql.ErrNoRows) {
			return
		}
		if broken {
			time.Sleep(20 * time.Millisecond)
			for _, statement := range l.raise {
				_, _ = db.Exec(statement, p.Cents, p.Customer)
			}
		}
		if inTransaction(w, db, func(tx *sql.Tx) error {
			made, err := makes(tx, "insert into purchases (request_key, customer, note, cents) values (?, ?, ?, ?) on conflict do nothing", key, p.Customer, p.Note, p.Cents)
			for _, statement := range l.raise {
				if made && !broken && err == nil {
					_, err = tx.Exec(statement, p.Cents, p.Customer)
				}
			}
			return err
		}) {
			_ = tell()
		}
	})), "sqlite://" + path
}

// purchase is the create that init is given.
func (l loyalty) purchase(address string) string {
	return fmt.Sprintf(`curl -H 'Idempotency-Key: k-1' -d '{"customer": %s, "note": "happy birthday to you", "cents": %d}' %s/purchases`, cmp.Or(l.who, `"ada"`), l.cents, address)
}

// raced are scenarios in which copies and other bodies are sent at once.
var raced = []string{"sequential-replay", "distinct-twins", "burst-same-key", "altered-race"}

// TestInitOfNumbersThatNoColumnExplains holds that a number is watched which equal creates change by as much, though nothing that they write down
// says by how much, and whether a row refers to it or names it by a value.
func TestInitOfNumbersThatNoColumnExplains(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loyalty
		query, doubt, effect string
	}{
		"a row named by a value": {
			loyalty{tables: byName, raise: perHundred, cents: 4200},
			`select customers.points - (select 42 * count(*) from purchases where purchases.customer = 'ada') from customers where customers.name = 'ada'`,
			"Whether each create changes customers.points by 42: those that were sent did", "customers-points",
		},
		"another body says otherwise": {
			loyalty{tables: byName, raise: perHundred, cents: 4299},
			`select customers.points - (select coalesce(sum(case when purchases.cents = 4299 then 42 when purchases.cents = 4300 then 43 else 0 end), 0) from purchases where purchases.customer = 'ada')`,
			"by 42 (cents 4299) or 43 (cents 4300)", "customers-points",
		},
		"a row of many": {
			loyalty{
				tables: byName + "with recursive n(n) as (select 1 union all select n + 1 from n where n < 1500) insert into customers (name) select 'customer ' || n from n;",
				raise:  perHundred, cents: 4200,
			},
			`select customers.points - (select 42 * count(*)`, "", "customers-points",
		},
		"a row that is referred to": {
			loyalty{
				tables: byName, refers: "integer not null references customers (id)", who: "1", cents: 4200,
				raise: []string{"update customers set points = points - cast(?1 / 100 as integer) where id = ?2"},
			},
			`select customers.points + (select 42 * count(*) from purchases where purchases.customer = '1') from customers where customers.id = '1'`,
			"Whether each create changes customers.points by -42", "customers-points",
		},
		"as much for each": {
			loyalty{tables: byName, raise: []string{"update customers set points = points + 10, purchases_made = purchases_made + 1 where name = ?2 and ?1 > 0"}, cents: 4200},
			`select customers.points - (select 10 * count(*)`, "", "customers-purchases-made",
		},
		"another amount is the one of another body": {
			loyalty{tables: byName, raise: []string{"update customers set points = points + 2 where name = ?2 and ?1 > 0"}, cents: 4},
			`select customers.points - (select 2 * count(*)`, "", "customers-points",
		},
	} {
		for broken, exit := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := c.open(t, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", c.purchase(address), "--db", database)
				doubts, effects := splitDoubts(readFile(t, file))
				require.Contains(t, effects, c.query, said.err)
				require.Contains(t, doubts, c.doubt)
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, raced...)...)
				require.Equal(t, exit, got.code, got)
				if broken {
					require.Contains(t, got.out, c.effect)
				}
			})
		}
	}
}

// TestInitOfNumbersThatEqualCreatesChangeOtherwise holds that no effect watches a number which equal creates do not change by as much, or which a
// repetition changes as well, that init says so, and that the correct service passes.
func TestInitOfNumbersThatEqualCreatesChangeOtherwise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loyalty
		doubt string
	}{
		"what is left over counts": {
			loyalty{
				tables: "create table rest (cents integer not null); insert into rest values (0);" + byName, cents: 4250,
				raise: []string{
					"update customers set points = points + ((select cents from rest) + ?1) / 100 where name = ?2",
					"update rest set cents = (cents + ?1) % 100",
				},
			},
			"Whether each create changes customers.points once: it changed with each",
		},
		"what is left over counts, of a hundred": {
			loyalty{
				tables: "create table rest (cents integer not null); insert into rest values (0);" + byName, cents: 4200,
				raise: []string{
					"update customers set points = points + ((select cents from rest) + ?1) / 100 where name = ?2",
					"update rest set cents = (cents + ?1) % 100",
				},
			},
			"Whether each create changes customers.points once: it changed with each",
		},
		"each request costs": {
			loyalty{tables: byName, asked: "update customers set points = points - 5 where name = ?2 and ?1 > 0", cents: 4200},
			"Whether only creates change customers.points",
		},
		"each request counts for the row that is referred to": {
			loyalty{
				tables: byName, refers: "integer not null references customers (id)", who: "1", cents: 4200,
				asked: "update customers set purchases_made = purchases_made + 1 where id = ?2 and ?1 > 0",
			},
			"Whether only creates change customers.purchases_made, and each by what it writes down: those that were sent did, and it did not stay as it was when one was repeated",
		},
		"when it was": {
			loyalty{tables: byName + "alter table customers add column last_bought_at integer;", raise: []string{"update customers set last_bought_at = cast(unixepoch('subsec') * 1000 as integer) where name = ?2 and ?1 > 0"}, cents: 4200},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := c.open(t, false)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", c.purchase(address), "--db", database)
			doubts, effects := splitDoubts(readFile(t, file))
			require.NotContains(t, effects, "effects:", said.err)
			require.Contains(t, doubts, c.doubt)
			if c.doubt == "" {
				require.NotContains(t, doubts, "customers")
			}
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, raced...)...)
			require.Equal(t, exitPass, got.code, got)
		})
	}
}
