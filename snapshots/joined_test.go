package snapshots_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/snapshots"
)

// Of many markers, a query finds what it finds of few, whatever the type that it compares them with.
func TestManyMarkersAreAskedForAsFewAre(t *testing.T) {
	t.Parallel()
	on := newTable(t, "postgres")
	on.exec(t, "create table "+on.name+"_typed (note text, number bigint, uid uuid, short char(40), price numeric)")
	t.Cleanup(func() { on.exec(t, "drop table "+on.name+"_typed") })
	var names, numbers, uids []string
	for i := range 1500 {
		names, numbers, uids = append(names, fmt.Sprintf("m%04d", i)), append(numbers, fmt.Sprint(i)), append(uids, fmt.Sprintf("00000000-0000-0000-0000-%012d", i))
	}
	for i := range 40 {
		on.exec(t, fmt.Sprintf("insert into %s_typed values ('%s', %s, '%s', '%s', %d.5)", on.name, names[i/2], numbers[i/2], uids[i/2], names[i/2], i))
	}
	const wanted = 30
	for query, markers := range map[string][]string{
		"select price from T where note = :marker order by price":                               names,
		"select price from T where note = :marker order by price desc limit 1":                  names,
		"select max(price) as most, count(*) as n from T where note = :marker":                  names,
		"with mine as (select * from T where note = :marker) select price from mine -- and all": names,
		"select price from T where note = :marker and note in (:marker, 'x') order by price":    names,
		"select price from T where note like '%' || :marker || '%' order by price":              names,
		"select price from T where short = :marker order by price":                              names,
		"select price from T where number = :reference order by price":                          numbers,
		"select price from T where uid = :reference order by price":                             uids,
		"select price from T where uid = :reference::uuid or note = :reference order by price":  uids,
	} {
		r := on.open(t, query)
		r.query = strings.ReplaceAll(query, "T", on.name+"_typed")
		var told []int
		few := r.Snapshot(t.Context(), markers[:wanted])
		many := r.Reader.Snapshot(t.Context(), []snapshots.Question{{Rows: r.query, Markers: markers, Answered: func(n int) { told = append(told, n) }}})
		require.Empty(t, few.Error, query)
		require.Empty(t, many.Error, query)
		require.Equal(t, []int{1000, 1500}, told, "%s: by a join", query)
		require.Len(t, many.Rows, len(markers), query)
		for _, m := range markers[:wanted] {
			require.Equal(t, few.Rows[m], many.Rows[m], "%s: %s", query, m)
		}
		require.True(t, slices.ContainsFunc(markers[:wanted], func(m string) bool { return len(few.Rows[m]) > 0 }), query)
	}
	wrong := on.open(t, "select nothing from things where note = :marker").Snapshot(t.Context(), names)
	require.Contains(t, wrong.Error, `column "nothing" does not exist`)
}
