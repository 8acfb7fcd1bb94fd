package main

import (
	"cmp"
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfRowsThatNothingLinks holds that rows which a create adds to other tables are counted although they neither refer to the created row
// nor hold its marker, and that a table which says that there was a request is not.
func TestInitOfRowsThatNothingLinks(t *testing.T) {
	t.Parallel()
	const codes = "codes (code text primary key, state text not null default 'free', used integer not null default 0); insert into codes (code) with recursive n(i) as (select 1 union all select i + 1 from n where i < 900) select 'C' || i from n"
	const sold = "update codes set state = 'sold' where code = (select code from codes where state = 'free' limit 1)"
	const movement = `insert into stock_movements (document_no, sku, quantity) select 'D-' || printf('%06d', max(id)), 'lamp', 2 from orders`
	for name, c := range map[string]struct {
		table        string
		done, always string // with each order, with each request
		learns       string
		lacks        string
		exit         int
		findings     string
	}{
		"each moves once": {
			"stock_movements (id integer primary key, document_no text, sku text, quantity integer)", movement, "",
			"query: select count(*) from stock_movements delta: 1", "may have more rows", exitPass, "",
		},
		"a repetition moves again": {
			"stock_movements (id integer primary key, document_no text, sku text, quantity integer)", "", movement,
			"Whether stock_movements may have more rows: one create made 1 there, and there were 3 when it was repeated.", "delta: 3", exitFinding, "stock-movements",
		},
		"each is told once": {
			"sent_mails (id integer primary key, recipient text)", "insert into sent_mails (recipient) values ('lager@shop.example'), ('ada@shop.example')", "",
			"query: select count(*) from sent_mails delta: 2", "may have more rows", exitPass, "",
		},
		"a repetition is told again": {
			"sent_mails (id integer primary key, recipient text)", "", "insert into sent_mails (recipient) values ('lager@shop.example')",
			"query: select count(*) from sent_mails delta: 1", "delta: 3", exitFinding, "sent-mails",
		},
		"each request is noted": {
			"arrivals (id integer primary key, path text)", "", "insert into arrivals (path) values ('/orders')",
			"Whether arrivals may have more rows: one create made 1 there, and there were 3 when it was repeated.", "from arrivals", exitPass, "",
		},
		"each answer is kept": {
			"said (id integer primary key, k text, v text)", `insert into said (k, v) select 'k', '{"id":' || max(id) || '}' from orders`, "", "Whether said has anything but what repetitions are answered from", "from said", exitPass, "",
		},
		"each answer is kept in another spelling, by its key": {
			"said (k text primary key, v text)", `insert into said (k, v) select request_key, '{ "id": ' || id || ' }' from orders order by id desc limit 1`, "", "Whether said has anything but what repetitions are answered from", "from said", exitPass, "",
		},
		"a repetition publishes what the answer says": {
			"outbox (id integer primary key, payload text)", "", `insert into outbox (payload) select '{"id":' || max(id) || '}' from orders`,
			"query: select count(*) from outbox delta: 1", "delta: 3", exitFinding, "outbox",
		},
		"each marks a code as sold": {
			codes, sold, "", `query: "select count(case when state = 'sold' then 1 end) from codes" delta: 1`, "may change", exitPass, "",
		},
		"each marks a code and moves stock": {
			"stock_movements (id integer primary key, document_no text, sku text); create table " + codes, sold + "; insert into stock_movements (document_no, sku) values ('D', 'lamp')", "",
			"query: select count(*) from stock_movements delta: 1 - name: codes-state-sold", "may have more rows", exitPass, "",
		},
		"each marks a code by a flag": {
			codes, "update codes set used = 1 where code = (select code from codes where used = 0 limit 1)", "",
			`query: "select count(case when used = '1' then 1 end) from codes" delta: 1`, "may change", exitPass, "",
		},
		"a repetition marks another code": {
			codes, "", sold, "Whether a repetition may change how many rows have sold in codes.state: one create changed it by 1, and by 3 when it was repeated", "from codes", exitPass, "",
		},
		"many rows are counted up": {
			"members (name text primary key, unread integer not null default 0); insert into members (name) with recursive n(i) as (select 1 union all select i + 1 from n where i < 20) select 'M' || i from n",
			"update members set unread = unread + 1", "", `query: "select coalesce(sum(unread), 0) from members" delta: 20`, "may change", exitPass, "",
		},
		"each key is noted": {
			"known (id integer primary key, idem text)", "insert into known (idem) values ('k')", "", "level: idempotent", "from known", exitPass, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table orders (id integer primary key, request_key text unique, note text); create table "+c.table)
			address := serveBoth(t, ordering(db, func(tx *sql.Tx, note, key string) (id int, err error) {
				made, err := makes(tx, "insert into orders (request_key, note) values (?, ?) on conflict do nothing", key, note)
				if err == nil && made && c.done != "" {
					_, err = tx.Exec(c.done)
				}
				if err == nil && c.always != "" {
					_, err = tx.Exec(c.always)
				}
				err = cmp.Or(err, tx.QueryRow("select id from orders where request_key = ?", key).Scan(&id))
				return id, err
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note": "two lamps for the hall"}' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			flat := strings.ReplaceAll(strings.Join(strings.Fields(text), " "), " # ", " ")
			require.Contains(t, flat, c.learns, said)
			require.NotContains(t, flat, c.lacks)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
			require.Equal(t, c.exit, got.code, "%s\n%s", text, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
