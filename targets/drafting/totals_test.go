package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestWhichRowsMakeATotal holds that the rows for several days are one total, and that others are told apart by what names them.
func TestWhichRowsMakeATotal(t *testing.T) {
	t.Parallel()
	text := func(name string) databases.Column { return databases.Column{Name: name, Type: "varchar(40)"} }
	whole := func(name string) databases.Column { return databases.Column{Name: name, Type: "int"} }
	day := databases.Column{Name: "day", Type: "date"}
	type row = map[string]string
	type sum struct {
		where []drafting.Cell
		n     float64
	}
	for name, c := range map[string]struct {
		table databases.Table
		rows  []row
		sums  []sum
	}{
		"days": {
			databases.Table{Columns: []databases.Column{day, whole("n")}, Primary: []string{"day"}},
			[]row{{"day": "2026-11-26", "n": "4"}, {"day": "2026-11-27", "n": "3"}}, []sum{{nil, 7}},
		},
		"days as texts": {
			databases.Table{Columns: []databases.Column{text("of"), whole("n")}, Primary: []string{"of"}},
			[]row{{"of": "2026-11-26", "n": "4"}, {"of": "2026-11-27", "n": "3"}}, []sum{{nil, 7}},
		},
		"days behind a number": {
			databases.Table{Columns: []databases.Column{whole("id"), day, whole("n")}, Primary: []string{"id"}},
			[]row{{"id": "1", "day": "2026-11-26T00:00:00Z", "n": "4"}, {"id": "2", "day": "2026-11-27T00:00:00Z", "n": "3"}}, []sum{{nil, 7}},
		},
		"days and hours, of two things": {
			databases.Table{Columns: []databases.Column{day, whole("hour"), text("metric"), whole("n")}, Primary: []string{"day", "hour", "metric"}},
			[]row{{"day": "2026-11-27", "hour": "1", "metric": "gifts", "n": "4"}, {"day": "2026-11-27", "hour": "2", "metric": "gifts", "n": "3"}, {"day": "2026-11-27", "hour": "2", "metric": "mails", "n": "9"}},
			[]sum{{[]drafting.Cell{{"metric", "gifts"}}, 7}, {[]drafting.Cell{{"metric", "mails"}}, 9}},
		},
		"names, and their numbers": {
			databases.Table{Columns: []databases.Column{whole("id"), text("name"), whole("n")}, Primary: []string{"id"}, Unique: [][]string{{"name"}}},
			[]row{{"id": "1", "name": "gifts", "n": "4"}, {"id": "2", "name": "mails", "n": "3"}}, []sum{{[]drafting.Cell{{"name", "gifts"}}, 4}, {[]drafting.Cell{{"name", "mails"}}, 3}},
		},
		"one row":                         {databases.Table{Columns: []databases.Column{whole("n")}}, []row{{"n": "4"}}, []sum{{nil, 4}}},
		"rows that nothing tells apart":   {databases.Table{Columns: []databases.Column{whole("n")}}, []row{{"n": "4"}, {"n": "3"}}, nil},
		"a name that fits into no query":  {databases.Table{Columns: []databases.Column{text("name"), whole("n")}, Primary: []string{"name"}}, []row{{"name": "a'b", "n": "4"}}, nil},
		"a moment that is no row's":       {databases.Table{Columns: []databases.Column{text("name"), {Name: "changed_at", Type: "timestamp"}, whole("n")}, Primary: []string{"name"}}, []row{{"name": "gifts", "changed_at": "2026-11-27T01:02:03Z", "n": "4"}}, []sum{{[]drafting.Cell{{"name", "gifts"}}, 4}}},
		"no key, and a name in each row":  {databases.Table{Columns: []databases.Column{text("name"), whole("n")}}, []row{{"name": "a", "n": "4"}, {"name": "b", "n": "3"}}, nil},
		"a number that does not add up":   {databases.Table{Columns: []databases.Column{day, {Name: "n", Type: "double"}}, Primary: []string{"day"}}, []row{{"day": "2026-11-26", "n": "0.1"}, {"day": "2026-11-27", "n": "0.2"}}, []sum{{nil, 0.3}}},
		"a name that a missing value has": {databases.Table{Columns: []databases.Column{text("name"), whole("n")}, Unique: [][]string{{"name"}}}, []row{{"n": "4"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sums []sum
			for _, s := range drafting.TotalsIn(c.table, c.rows) {
				sums = append(sums, sum{s.Where, s.Numbers["n"]})
			}
			require.Equal(t, c.sums, sums)
		})
	}
}

// TestOnlySomeRowsCountInATotal holds that a total for one thing is held against the rows that say so.
func TestOnlySomeRowsCountInATotal(t *testing.T) {
	t.Parallel()
	b := drafting.Book{Of: databases.Table{Name: "totals"}, Number: "n", Total: true, Where: []drafting.Cell{{"currency", "EUR"}}}
	entries := databases.Table{Name: "donations", Columns: columns("id", "currency", "amount")}
	over := b.Over(entries, map[string]string{"id": "1", "currency": "EUR", "amount": "25"})
	require.Equal(t, "currency", over.By)
	require.Equal(t, "EUR", over.Value)
	require.Empty(t, b.Over(entries, map[string]string{"id": "1", "currency": "USD", "amount": "25"}).By)
	b.Where = []drafting.Cell{{"id", "25"}}
	require.Empty(t, b.Over(entries, map[string]string{"id": "1", "currency": "EUR", "amount": "25"}).By, "a number is equal by chance")
}
