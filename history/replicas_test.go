package history

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsOfSeveralDatabases(t *testing.T) {
	t.Parallel()
	a, b := Row{"id": "a", "n": 1.0}, Row{"id": "b", "n": nil}
	without := func(row Row, names string) Row {
		lacking := Row{NotAt: names}
		for column, value := range row {
			lacking[column] = value
		}
		return lacking
	}
	for name, row := range map[string]struct{ first, second, third, want []Row }{
		"equal":           {[]Row{a, b}, []Row{b, a}, []Row{a, b}, []Row{a, b}},
		"none":            {nil, nil, nil, []Row{}},
		"one has none":    {[]Row{a}, nil, []Row{a}, []Row{without(a, "us")}},
		"two have none":   {[]Row{a}, nil, nil, []Row{without(a, "us, asia")}},
		"only the second": {nil, []Row{a}, nil, []Row{without(a, "database, asia")}},
		"only the last":   {nil, nil, []Row{a}, []Row{without(a, "database, us")}},
		"each its own":    {[]Row{a}, []Row{b}, nil, []Row{without(a, "us, asia"), without(b, "database, asia")}},
		"twice in one":    {[]Row{a, a}, []Row{a}, []Row{a}, []Row{a, without(a, "us, asia")}},
	} {
		got := WithReplica(row.first, row.second, "us", []string{"database"})
		got = WithReplica(got, row.third, "asia", []string{"database", "us"})
		require.Equal(t, row.want, got, name)
	}
}
