package sqltext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/sqltext"
)

func all() []sqltext.Dialect {
	return []sqltext.Dialect{sqltext.SQLite, sqltext.PostgreSQL, sqltext.MariaDB}
}

func TestWhatOnlyReads(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"select id from orders where note = :marker", "select id from orders where note = :marker;", "SELECT 1 ; -- done",
		"with x as (select 1) select * from x where a = ';' and b = ')'", "values (1, 2)", "(select 1) union (select 2)", "table orders",
		"select ';' /* ; ) */, \"a;b\" from orders -- ; )\n where note = :marker", "select 'it''s' from t", "select a::text from t", "select count(*) from t",
		"select sleep, edit from naps where now() > made_at - interval '1 hour'", "select substring(a from 1 for 2) from t", "select a - -1 from t",
	} {
		for _, d := range all() {
			require.NoError(t, sqltext.Query(query, d), "%s: %s", d, query)
		}
	}
	require.NoError(t, sqltext.Query(`select 'it\'s; )' from t`, sqltext.MariaDB))
	require.NoError(t, sqltext.Query(`select * from t where a like '%\_%' escape '\'`, sqltext.PostgreSQL))
	require.NoError(t, sqltext.Query(`select $a$ ; ) $a$, e'it\'s;' from t`, sqltext.PostgreSQL))
	require.NoError(t, sqltext.Query("select [a;b)'] from t", sqltext.SQLite))
}

func TestWhatDoesMoreThanRead(t *testing.T) {
	t.Parallel()
	for query, says := range map[string]string{
		"":                                       "expected a query",
		"attach database '/tmp/x' as y":          "that begins with select",
		"pragma query_only(0)":                   "that begins with select",
		"delete from orders":                     "that begins with select",
		".shell touch x":                         "that begins with select",
		`\! touch x`:                             "outside of quotes",
		`select 1 \! touch x`:                    "outside of quotes",
		"select 1; delete from orders":           "second statement",
		"select 1; 'x'":                          "second statement",
		"select 1) x; attach database 'y' as z":  "closed that was not opened",
		"select 1) x union select (1":            "closed that was not opened",
		"select (1":                              "not closed",
		"select 'x":                              "not closed",
		"select /* x":                            "not closed",
		"select /*! load_file('x') */ 1":         "is run by MariaDB",
		"select load_file('/etc/passwd')":        "load_file() does more",
		"select LOAD_FILE ('/etc/passwd')":       "load_file() does more",
		"select `load_file`('/etc/passwd')":      "load_file() does more",
		"select \"pg_read_file\"('/etc/passwd')": "pg_read_file() does more",
		"select pg_catalog.pg_read_file('x')":    "pg_read_file() does more",
		"select lo_export(1, '/tmp/x')":          "lo_export() does more",
		"select load_extension('x.so')":          "load_extension() does more",
		"select writefile('x', 'y')":             "writefile() does more",
		"select pg_sleep(100)":                   "pg_sleep() does more",
		"select 1 into outfile '/tmp/x'":         "INTO writes",
		"select * from orders for update":        "locks rows",
		"select * from o lock in share mode":     "locks rows",
	} {
		for _, d := range all() {
			require.ErrorContains(t, sqltext.Query(query, d), says, "%s: %s", d, query)
		}
	}
	require.Error(t, sqltext.Query("select ['] ; attach database 'x' as y --']", sqltext.SQLite), "a name in brackets")
	require.Error(t, sqltext.Query(`select 'a\'; delete from orders -- '`, sqltext.PostgreSQL), "no escape there")
	require.Error(t, sqltext.Query("select 1 --1; delete from orders", sqltext.MariaDB), "no comment there")
	require.Error(t, sqltext.Query("select 1 # ; delete\n; delete from orders", sqltext.MariaDB))
}

func TestWhatStandsOutsideOfQuotes(t *testing.T) {
	t.Parallel()
	for _, d := range all() {
		require.Equal(t, "select id from t where a =           and b = :marker", sqltext.Outside("select id from t where a = ':marker' and b = :marker", d))
		require.Equal(t, "select `a b` from t                  ", sqltext.Outside("select `a b` from t /* limit 1 */-- x", d))
	}
	require.Equal(t, `select "a" from t`, sqltext.Outside(`select "a" from t`, sqltext.PostgreSQL))
	require.Equal(t, `select     from t`, sqltext.Outside(`select "a" from t`, sqltext.MariaDB), "a text there")
	require.Equal(t, "select 1 --1", sqltext.Outside("select 1 --1", sqltext.MariaDB), "two signs of arithmetic")
}

func FuzzQuery(f *testing.F) {
	for _, query := range []string{"select id from orders where note = :marker", "select $a$ ; $a$", "select [a] 'b' \"c\" /* d */ -- e", `select e'\''`, "(((", ";"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, d := range all() {
			if sqltext.Query(query, d) == nil {
				require.Error(t, sqltext.Query(query+"\n) x; delete from orders; select * from (select 1", d), "%s: %q", d, query)
			}
		}
	})
}
