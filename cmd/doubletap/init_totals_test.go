package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// charity is how a service takes donations, and adds them up in rows to which no donation refers.
type charity struct {
	tables string   // that hold the sums
	raise  []string // statements of each donation: ?1 is its amount
	asked  string   // statement of each request; empty: none
	others string   // statement that others make all the time; empty: none
	number string   // query of the number that a donation has; empty: it has none
}

// daily adds up donations by day.
func daily() charity {
	return charity{
		tables: "create table daily_totals (day text primary key, donations integer not null, amount numeric not null)",
		raise:  []string{"insert into daily_totals values (date(), 1, ?1) on conflict do update set donations = donations + 1, amount = amount + excluded.amount"},
	}
}

// open serves donations, of which each has a reference of its own. A repetition is told of the donation that there is. The broken one adds a
// donation up before it claims the reference: one that looks for it meanwhile adds its copy up, too.
func (c charity) open(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", c.tables+`;
		create table donations (id integer primary key, reference text not null unique, donor text not null, amount numeric not null, number text)`)
	db.SetMaxOpenConns(1) // who waits for it has their turn; who waits in SQLite may starve
	if c.others != "" {
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		t.Cleanup(func() { stop(); <-done })
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				_, _ = db.Exec(c.others)
				time.Sleep(20 * time.Millisecond)
			}
		}()
	}
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var d struct {
			Reference, Donor string
			Amount           float64
		}
		_ = json.NewDecoder(r.Body).Decode(&d)
		if d.Reference == "" || d.Amount <= 0 {
			says(w, http.StatusBadRequest, `{"error":"invalid"}`)
			return
		}
		if c.asked != "" {
			_, _ = db.Exec(c.asked)
		}
		if c.others != "" { // they are as busy while creates are sent, however short that is
			_, _ = db.Exec(c.others)
		}
		if broken {
			if err := shown(w, db, d.Reference, http.StatusOK); !errors.Is(err, sql.ErrNoRows) {
				return
			}
			time.Sleep(20 * time.Millisecond)
			for _, statement := range c.raise {
				_, _ = db.Exec(statement, d.Amount)
			}
		}
		status := http.StatusOK
		if inTransaction(w, db, func(tx *sql.Tx) error {
			made, err := makes(tx, "insert into donations (reference, donor, amount) values (?, ?, ?) on conflict do nothing", d.Reference, d.Donor, d.Amount)
			if !made {
				return err
			}
			status = http.StatusCreated
			for _, statement := range c.raise {
				if !broken && err == nil {
					_, err = tx.Exec(statement, d.Amount)
				}
			}
			if c.number != "" && err == nil {
				_, err = tx.Exec("update donations set number = ("+c.number+") where reference = ?", d.Reference)
			}
			return err
		}) {
			_ = shown(w, db, d.Reference, status)
		}
	})), "sqlite://" + path
}

// shown answers with the donation of a reference, if there is one.
func shown(w http.ResponseWriter, db *sql.DB, reference string, status int) error {
	var id int64
	var amount float64
	err := db.QueryRow("select id, amount from donations where reference = ?", reference).Scan(&id, &amount)
	if err == nil {
		says(w, status, fmt.Sprintf(`{"id":%d,"amount":%g}`, id, amount))
	}
	return err
}

// donation is the create that init is given.
const donation = `curl -d '{"reference": "WEB-2026-00042", "donor": "Ada Lovelace", "amount": 25}' `

// TestInitOfTotalsToWhichNothingRefers holds that a number which creates raise in a row of a small table is held against what they have written
// down, whichever row it is, and that a copy which is added up, and leaves no second row, is a finding.
func TestInitOfTotalsToWhichNothingRefers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		charity
		learns, not []string
		effect      string
	}{
		"by day": {daily(), []string{
			"- name: daily-totals-donations # it and rows of donations stay the same together",
			"select coalesce(sum(daily_totals.donations), 0) - (select count(*) from donations) from daily_totals\"",
			"- name: daily-totals-amount # it and donations.amount stay the same together",
		}, []string{"daily_totals"}, "daily-totals-donations"},
		"counters by name": {
			charity{
				tables: "create table counters (name text primary key, value integer not null); insert into counters values ('donations', 7), ('asked', 0), ('mails', 3)",
				raise:  []string{"update counters set value = value + 1 where name = 'donations' and ?1 > 0"},
				asked:  "update counters set value = value + 1 where name = 'asked'",
			},
			[]string{"select coalesce(sum(counters.value), 0) - (select count(*) from donations) from counters where counters.name = 'donations'"},
			[]string{"'asked'", "'mails'"}, "counters-value",
		},
		"one row": {
			charity{
				tables: "create table stats (donations integer not null, cents integer not null, budget integer not null, revision integer not null); insert into stats values (0, 0, 1000000, 0)",
				raise:  []string{"update stats set donations = donations + 1, cents = cents + 100 * ?1, budget = budget - ?1, revision = revision + 1"},
			},
			[]string{
				"select coalesce(sum(stats.donations), 0) - (select count(*) from donations) from stats\"", "- name: stats-budget # it and donations.amount stay the same together",
				"Whether each create changes stats.cents by 2500 (amount 25) or 2600 (amount 26)",
				"- name: stats-cents # it and rows of donations, of which each has changed it by 2500 (amount 25) or 2600 (amount 26), stay the same together",
			}, []string{"revision"}, "stats-donations",
		},
		"in JSON, and as a text": {
			charity{
				tables: `create table settings (name text primary key, value text not null); insert into settings values ('theme', 'dark'), ('count', '7'), ('totals', '{"raised":{"amount":0}}')`,
				raise: []string{"update settings set value = cast(value + 1 as text) where name = 'count' and ?1 > 0",
					"update settings set value = json_set(value, '$.raised.amount', json_extract(value, '$.raised.amount') + ?1) where name = 'totals'"},
			},
			[]string{"json_extract(settings.value, '$.raised.amount')", "cast(settings.value as numeric)", "settings.name = 'totals'", "settings.name = 'count'"}, []string{"'theme'"}, "settings-value",
		},
		"and a list of which some is kept": {
			charity{
				tables: `create table ledgers (name text primary key, doc text not null); insert into ledgers values ('main', '{"raised":0,"lines":[]}')`,
				raise: []string{"update ledgers set doc = json_set(doc, '$.raised', json_extract(doc, '$.raised') + ?1, '$.lines[#]', json_array(?1), '$.lines[#]', json_array(-?1))",
					"update ledgers set doc = json_remove(doc, '$.lines[0]', '$.lines[0]') where json_array_length(doc, '$.lines') > 60"},
			},
			[]string{"json_extract(ledgers.doc, '$.raised')", "Whether ledgers.doc at lines in elements has 2 for each create"}, []string{"json_array_length"}, "ledgers-doc-at-raised",
		},
		"a pool, and what is cleaned up": {
			charity{
				tables: `create table badges (badge text primary key); create table given (badge text); create table stale (label text, day text);
					with recursive n(i) as (select 1 union all select i + 1 from n where i < 900) insert into badges select 'badge-' || (100000 + i) from n;
					insert into stale select 'basket-' || badge, 'monday' from badges limit 60`,
				raise: []string{"insert into given select min(badge) from badges where ?1 > 0", "delete from badges where badge = (select min(badge) from badges)",
					"delete from stale where label = (select min(label) from stale)"},
			},
			[]string{"- name: badges # each create takes its rows away", "Whether creates give rows of stale away: each takes 1"}, []string{"from stale"}, "given",
		},
		"beside what others raise": {
			charity{
				tables: daily().tables + "; create table visitors (day text primary key, n integer not null); insert into visitors values (date(), 1)",
				raise:  daily().raise, others: "update visitors set n = n + 1",
			},
			[]string{"- name: daily-totals-donations # it", "Whether creates change visitors.n: it changes when nothing is sent"}, []string{"- name: visitors"}, "daily-totals-donations",
		},
	} {
		for broken, exit := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := c.open(t, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", donation+address+"/donations", "--db", database)
				doubts, effects := splitDoubts(readFile(t, file))
				for _, learns := range c.learns {
					require.Contains(t, doubts+"\n"+effects, learns, said.err)
				}
				for _, not := range c.not {
					if not == "daily_totals" {
						require.NotContains(t, doubts, not)
						continue
					}
					require.NotContains(t, effects, not)
				}
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay", "distinct-twins", "burst-same-key")
				require.Equal(t, exit, got.code, got)
				if broken {
					require.Contains(t, got.out, c.effect)
				}
			})
		}
	}
}

// TestInitOfNumbersThatAreNoTotals holds that a number becomes no effect that others change as well, that a repetition changes again, or that
// gives each thing its number, and that init says so; the correct service passes.
func TestInitOfNumbersThatAreNoTotals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		charity
		doubt string
	}{
		"others raise it all the time": {
			charity{tables: daily().tables, raise: daily().raise, others: "update daily_totals set donations = donations + 1, amount = amount + 3"},
			"Whether creates change daily_totals.donations: it changes when nothing is sent",
		},
		"a repetition raises it, too": {
			charity{tables: "create table stats (n integer not null); insert into stats values (0)", asked: "update stats set n = n + 1"},
			"Whether only creates change stats.n",
		},
		"a request is counted": {
			charity{tables: "create table stats (requests integer not null); insert into stats values (0)", asked: "update stats set requests = requests + 1"},
			"",
		},
		"it gives each its number": {
			charity{
				tables: "create table counters (name text primary key, value integer not null); insert into counters values ('donations', 417)",
				raise:  []string{"update counters set value = value + 1 where ?1 > 0"}, number: "select 'D-' || value from counters",
			},
			"Whether counters.value counts what creates make",
		},
		"it is called so": {
			charity{
				tables: "create table sequences (name text primary key, value integer not null); insert into sequences values ('donations', 417)",
				raise:  []string{"update sequences set value = value + 1 where ?1 > 0"},
			},
			"Whether sequences.value counts what creates make",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := c.open(t, false)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", donation+address+"/donations", "--db", database)
			doubts, rest := splitDoubts(readFile(t, file))
			if c.number == "" {
				require.NotContains(t, rest, "effects:", said.err)
			} else { // which no two are to have
				require.Contains(t, rest, "effects:\n      - name: same-", said.err)
				require.Equal(t, 1, strings.Count(rest, "rows: 1\n"), said.err)
			}
			require.Contains(t, doubts, c.doubt)
			if c.doubt == "" {
				require.NotContains(t, doubts, "stats")
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay", "distinct-twins", "burst-same-key")
			require.Equal(t, exitPass, got.code, got)
		})
	}
}

// splitDoubts parts what init was unsure of from the file that it wrote.
func splitDoubts(text string) (doubts, rest string) {
	doubts, rest, _ = strings.Cut(text, "\nname: ")
	return strings.Join(strings.Fields(strings.ReplaceAll(doubts, "\n#", " ")), " "), rest
}
