package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestAnElementOfAListStandsForARow holds that what creates leave in one row, as elements of a list in its JSON, is counted there, and that another row,
// a list that does not grow, and one of words are no such thing.
func TestAnElementOfAListStandsForARow(t *testing.T) {
	t.Parallel()
	const one, two = `{"items":[{"sku":"a"}],"tags":["a"]}`, `{"items":[{"sku":"a"},{"sku":"b"}],"tags":["a","b"]}`
	for name, c := range map[string]struct {
		id, before, after string
		within            string
	}{
		"another element": {"c-1", one, two, "$.items"},
		"in the document": {"c-1", `[{"sku":"a"}]`, `[{"sku":"a"},{"sku":"b"}]`, "$"},
		"another row":     {"c-2", one, two, ""},
		"the same list":   {"c-1", two, two, ""},
		"of words":        {"c-1", `["a"]`, `["a","b"]`, ""},
	} {
		table := databases.Table{Name: "carts", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id", Type: "text"}, {Name: "data", Type: "jsonb"}}}
		f := File{Proof: &Proof{Table: table, Where: Where{Column: "data"}, Row: map[string]string{"id": "c-1", "data": c.before}}}
		inList(&f, Repeated{Row: map[string]string{"id": c.id, "data": c.after}})
		require.Equal(t, c.within, f.Proof.Within, name)
	}
	f := File{Dialect: databases.PostgreSQL, Proof: &Proof{Table: databases.Table{Name: "carts", Columns: []databases.Column{{Name: "data", Type: "jsonb"}}}, Where: Where{Column: "data", Within: "$.items"}}}
	require.Equal(t, "select cast(element.value as text) as element from carts cross join lateral jsonb_array_elements(case when jsonb_typeof(cast(carts.data as jsonb) #> '{items}') = 'array' then cast(carts.data as jsonb) #> '{items}' end) as element(value) where cast(element.value as text) like '%' || cast(:marker as text) || '%'", f.query())
	f.Proof.Table.Columns[0].Type = "text"
	require.Contains(t, f.query(), "jsonb_typeof(cast(case when cast(carts.data as text) like '%' || cast(:marker as text) || '%' then carts.data end as jsonb) #> '{items}') = 'array'")
	f.Dialect, f.Proof.Within = databases.SQLite, "$"
	require.Equal(t, "select element.value as element from carts, json_each(case when json_valid(carts.data) then carts.data end, '$') as element where element.value like '%' || :marker || '%'", f.query())
	f.Dialect, f.Proof.Within = databases.MariaDB, "$.items"
	require.Contains(t, f.query(), "json_table(case when json_valid(carts.data) then carts.data end, '$.items[*]' columns")
}
