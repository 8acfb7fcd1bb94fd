package main

import (
	"cmp"
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitLeavesOtherSchemasToOthers holds that where the URL of the database names a schema, a table of another one counts only if a foreign key
// links it: what else is written there may come from another program, and be gone at the next run.
func TestInitLeavesOtherSchemasToOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parameter, value string
		counts           bool
	}{
		"a schema that is named":    {"search_path", "near", false},
		"a schema named as option":  {"options", "-csearch_path=near", false},
		"a schema as an orm has it": {"schema", "near", false},
		"no schema that is named":   {"", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			link := ownDatabase(t, strings.ReplaceAll(name, " ", "_"))
			db, err := sql.Open("pgx", link)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			_, err = db.Exec(`create schema near; create schema far;
				create table near.orders (id serial primary key, request_key text unique, note text);
				create table far.parcels (id serial primary key, belongs_to integer references near.orders, weight integer);
				create table far.calls (id serial primary key, order_id integer, weight integer);
				create table far.movements (id serial primary key, quantity integer)`)
			require.NoError(t, err)
			address := serveBoth(t, ordering(db, func(tx *sql.Tx, note, key string) (id int, err error) {
				made, err := makes(tx, "insert into near.orders (request_key, note) values ($1, $2) on conflict do nothing", key, note)
				err = cmp.Or(err, tx.QueryRow("select id from near.orders where request_key = $1", key).Scan(&id))
				for _, table := range []string{"parcels (belongs_to, weight)", "calls (order_id, weight)"} {
					if made && err == nil {
						_, err = tx.Exec("insert into far."+table+" values ($1, 2)", id)
					}
				}
				if made && err == nil {
					_, err = tx.Exec("insert into far.movements (quantity) values (2)")
				}
				return id, err
			}))
			u, err := url.Parse(link)
			require.NoError(t, err)
			if query := u.Query(); c.parameter != "" {
				query.Set(c.parameter, c.value)
				u.RawQuery = query.Encode()
			}
			env := map[string]string{"DATABASE_URL": u.String()}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note": "two lamps for the hall"}' `+address+"/orders", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "far.parcels", "%s", said)
			for _, table := range []string{"from far.calls", "from far.movements"} {
				require.Equal(t, c.counts, strings.Contains(text, table), "%s\n%s", table, text)
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
			require.Equal(t, exitPass, got.code, "%s", got)
		})
	}
}
