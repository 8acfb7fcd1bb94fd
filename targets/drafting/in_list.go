package drafting

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// inList finds that a create makes no row, but an element of a list in the JSON of a row that was there before, as an item of a cart: another create
// has left its own in the same row, and a list there has more elements. Rows of the query are those elements then, as two of one create are in one row.
func inList(f *File, r Repeated) {
	p := f.Proof
	if p.Exact || p.ByKey || p.Through != nil || r.Row == nil || len(p.Table.Primary) == 0 || len(p.Several.Rows) > 0 ||
		slices.ContainsFunc(p.Table.Primary, func(column string) bool { return p.Row[column] != r.Row[column] }) {
		return
	}
	for list, had := range inJSON(p.Column, p.Row[p.Column]) {
		column, path, what := numberPart(list)
		if column != p.Column || what != inElements || inJSON(p.Column, r.Row[p.Column])[list] <= had || !objects(r.Row[p.Column], path) {
			continue
		}
		p.Within = strings.TrimSuffix("$."+path, ".")
		f.Doubt("Whether each create makes an element of a list in %s.%s, and no row: the creates that were sent have left theirs in one row. The row query counts the elements that have the marker.", p.Table.FullName(), p.Column)
		return
	}
}

// objects reports that all elements of a list in a document are objects.
func objects(text, path string) bool {
	var document any
	if json.Unmarshal([]byte(text), &document) != nil {
		return false
	}
	for _, member := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' }) {
		within, _ := document.(map[string]any)
		document = within[member]
	}
	list, _ := document.([]any)
	return len(list) > 0 && !slices.ContainsFunc(list, func(element any) bool { _, is := element.(map[string]any); return !is })
}

// elementQuery selects the elements of a list that have the marker. Another row may have no list there, or a text that is no JSON, which must not
// end the query for all of them.
func elementQuery(f *File) string {
	p := f.Proof
	table := f.Dialect.TableName(p.Table)
	column := table + "." + f.Dialect.Name(p.Column)
	marked := contains(f.Dialect, "element.value", false)
	switch f.Dialect {
	case databases.PostgreSQL:
		list := "cast(" + column + " as jsonb)"
		if !jsonType.MatchString(p.Table.TypeOf(p.Column)) {
			list = fmt.Sprintf("cast(case when %s then %s end as jsonb)", contains(f.Dialect, column, false), column)
		}
		if path := strings.TrimPrefix(p.Within, "$."); path != "$" {
			list += " #> '{" + strings.ReplaceAll(path, ".", ",") + "}'"
		}
		return fmt.Sprintf("select cast(element.value as text) as element from %s cross join lateral jsonb_array_elements(case when jsonb_typeof(%s) = 'array' then %s end) as element(value) where %s", table, list, list, marked)
	case databases.MariaDB:
		return fmt.Sprintf("select element.value as element from %s, json_table(%s, '%s[*]' columns (value json path '$')) as element where %s", table, onlyJSON(column), p.Within, marked)
	default:
		return fmt.Sprintf("select element.value as element from %s, json_each(%s, '%s') as element where %s", table, onlyJSON(column), p.Within, marked)
	}
}

// onlyJSON is a column, or nothing where it is no JSON.
func onlyJSON(column string) string {
	return fmt.Sprintf("case when json_valid(%[1]s) then %[1]s end", column)
}
