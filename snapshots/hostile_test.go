package snapshots_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/snapshots"
)

// TestARowQueryOnlyReads has a stranger write the query, as one that did not come by way of a target file.
func TestARowQueryOnlyReads(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, on table) {
		dir := t.TempDir()
		made := filepath.Join(dir, "made.db")
		r, err := snapshots.Open(t.Context(), on.url)
		require.NoError(t, err)
		t.Cleanup(func() { r.Close() })
		for _, query := range []string{
			"select 1 as a where :marker = '') x; attach database '" + made + "' as y; create table y.t (a); select 0, 1 from (select 1",
			"select 1 as a where :marker = '') x; pragma query_only = 0; drop table " + on.name + "; select 0, 1 from (select 1",
			"select 1 as a where :marker = ''; drop table " + on.name,
			"delete from " + on.name + " where note = :marker returning id",
			"select load_file('/etc/passwd') as a where :marker = ''", "select pg_read_file('/etc/passwd') as a where :marker = ''",
			"select :marker as a into outfile '" + made + "'",
			"with gone as (delete from " + on.name + " where note = :marker returning id) select * from gone",
		} {
			s := r.Snapshot(t.Context(), []snapshots.Question{{Operation: "create", Rows: query, Markers: []string{"dtone"}}})
			require.NotEmpty(t, s.Error, query)
		}
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
		_, err = on.db.Exec("insert into " + on.name + " (id, note, amount) values (1, 'dtone', 1)")
		require.NoError(t, err, "the table is there")
	})
}

func TestValuesThatJSONDoesNotHave(t *testing.T) {
	t.Parallel()
	for kind, columns := range map[string]string{
		"sqlite":   "9e999 as a, -9e999 as b",
		"postgres": "'infinity'::float8 as a, 'nan'::float8 as b, 'nan'::numeric as c, 'infinity'::timestamptz as d, 'infinity'::date as e",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			on := newTable(t, kind)
			r, err := snapshots.Open(t.Context(), on.url)
			require.NoError(t, err)
			t.Cleanup(func() { r.Close() })
			q := snapshots.Question{Operation: "create", Rows: "select " + columns + ", :marker as m", Markers: []string{"dtone"}}
			if kind == "postgres" {
				q.Rows = strings.Replace(q.Rows, ":marker", ":marker::text", 1)
			}
			s := r.Snapshot(t.Context(), []snapshots.Question{q})
			require.Empty(t, s.Error)
			text, err := json.Marshal(s)
			require.NoError(t, err)
			require.Contains(t, strings.ToLower(string(text)), "inf")

			q.Effects = []snapshots.Effect{{Name: "total", Gives: snapshots.Total, Query: "select " + strings.Split(columns, ",")[0]}}
			s = r.Snapshot(t.Context(), []snapshots.Question{q})
			require.Contains(t, s.Error, "expected a number, got", "%+v", s)
		})
	}
}

func TestLongValuesAreToldApartByADigest(t *testing.T) {
	t.Parallel()
	on := newTable(t, "sqlite")
	r, err := snapshots.Open(t.Context(), on.url)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	var seen []any
	for _, bytes := range []int{20 << 20, 20<<20 + 1} {
		s := r.Snapshot(t.Context(), []snapshots.Question{{Operation: "create", Rows: fmt.Sprintf("select hex(zeroblob(%d)) as long, :marker as m", bytes), Markers: []string{"dtone"}}})
		require.Empty(t, s.Error)
		long := s.Rows["dtone"][0]["long"]
		require.Less(t, len(long.(string)), 2<<10)
		seen = append(seen, long)
	}
	require.NotEqual(t, seen[0], seen[1])
}

// TestAMarkerHasABoundedNumberOfRows asks a query for more rows than memory may hold.
func TestAMarkerHasABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, on table) {
		r, err := snapshots.Open(t.Context(), on.url)
		require.NoError(t, err)
		t.Cleanup(func() { r.Close() })
		const ten = "(select 1 n union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9 union all select 10)"
		query := "select 1 as id from " + ten + " a, " + ten + " b, " + ten + " c, " + ten + " d, (select 1 as n union all select 2) e where e.n <= "
		most := r.Snapshot(t.Context(), []snapshots.Question{{Operation: "create", Rows: query + "1 and :marker <> ''", Markers: []string{"dtone"}}})
		require.Empty(t, most.Error)
		require.Len(t, most.Rows["dtone"], 10_000)
		more := r.Snapshot(t.Context(), []snapshots.Question{{Operation: "create", Rows: query + "2 and :marker <> ''", Markers: []string{"dtone"}}})
		require.Contains(t, more.Error, "more than 10000 rows for the marker dtone")
	})
}
