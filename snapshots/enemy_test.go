package snapshots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/snapshots"
)

// TestRowsOfAnEnemyFitIntoMemory has a target list little that would be a great deal as rows: names within names, and rows without end.
func TestRowsOfAnEnemyFitIntoMemory(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 30<<10)
	var members strings.Builder
	for i := range 900 {
		fmt.Fprintf(&members, `"%d":0,`, i)
	}
	for what, answer := range map[string]string{
		"objects in one another": `[` + strings.Repeat(`{"a":1,"b":`, 4000) + `1` + strings.Repeat(`}`, 4000) + `]`,
		"members of a long name": `[{"` + name + `":{` + members.String() + `"x":0}}]`,
		"rows of nothing":        `[` + strings.Repeat(`{},`, 100_000) + `{}]`,
		"a text on many pages":   "",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			q, answers := snapshots.Question{}, map[string]string{"/one": answer}
			if answer == "" {
				q.Items, q.Next, q.Cursor = "/i", "/next", "p"
				answers = map[string]string{"/one": `{"i":[],"next":"0"}`}
				for i := range 60 {
					answers[fmt.Sprintf("/one?p=%d", i)] = fmt.Sprintf(`{"i":[{"text":%q}],"next":%d}`, strings.Repeat(name, 10), i+1)
				}
			}
			s := listing(t, q, answers)
			require.Contains(t, s.Error, "more than 4 MiB")
			require.Empty(t, s.Rows)
		})
	}
}

// TestRowsOfAQueryFitIntoMemory has a query make a great deal of one row.
func TestRowsOfAQueryFitIntoMemory(t *testing.T) {
	t.Parallel()
	on := newTable(t, "sqlite")
	r, err := snapshots.Open(t.Context(), on.url)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	q := snapshots.Question{
		Operation: "create", Markers: []string{"dtone"},
		Rows: "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200) select i, hex(zeroblob(30000)) as a from n where :marker = 'dtone'",
	}
	s := r.Snapshot(t.Context(), []snapshots.Question{q})
	require.Contains(t, s.Error, "more than 4 MiB")
}
