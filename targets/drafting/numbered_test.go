package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestNumbersInTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []string
		want   bool
	}{
		{[]string{"7", "8", "9"}, true},
		{[]string{"INV-2027-00009", "INV-2027-00010", "INV-2027-00011"}, true},
		{[]string{"7", "9", "11"}, false},
		{[]string{"7", "7", "7"}, false},
		{[]string{"9", "8", "7"}, false},
		{[]string{"A-7", "B-8", "C-9"}, false},
		{[]string{"", "", ""}, false},
		{[]string{"2027-03-01 09:00:07", "2027-03-01 09:00:08", "2027-03-01 09:00:09"}, false},
		{[]string{"order", "order", "order"}, false},
	} {
		require.Equal(t, c.want, drafting.InTurn(c.values), c.values)
	}
}

// TestWhatMayBeNumbered holds that a number which the database takes twice may be the thing's own, unless it stands for something else.
func TestWhatMayBeNumbered(t *testing.T) {
	t.Parallel()
	table := databases.Table{
		Name: "invoices", Primary: []string{"id"}, Unique: [][]string{{"year", "serial"}}, Partly: []string{"(receipt_no) WHERE (void IS NULL)"},
		Refers: []databases.Reference{{Column: "order_number", Table: "orders", Theirs: "id"}},
	}
	row := map[string]string{}
	for _, c := range [][3]string{
		{"id", "integer", "7"},
		{"number", "integer", "7"},
		{"documentNo", "text", "7"},
		{"reference", "text", "INV-00007"},
		{"cents", "integer", "7"},
		{"request_id", "text", "req-7"},
		{"written_by_worker", "text", "worker-7"},
		{"phone", "text", "7"},
		{"number_of_orders", "integer", "7"},
		{"noOfGuests", "integer", "7"},
		{"num_orders", "integer", "7"},
		{"customer_num_orders", "integer", "7"},
		{"number_in_year", "integer", "7"},
		{"serial", "integer", "7"},
		{"receipt_no", "integer", "7"},
		{"order_number", "integer", "7"},
		{"number_given", "timestamp", "7"},
		{"seat", "integer", "7"},
		{"seat_price", "integer", "7"},
		{"delivery_slot", "integer", "7"},
		{"seats", "integer", "7"},
		{"memo", "text", "marker7"},
	} {
		table.Columns = append(table.Columns, databases.Column{Name: c[0], Type: c[1]})
		row[c[0]] = c[2]
	}
	names := func(p drafting.Proof) (names []string) {
		p.Table, p.Row, p.Column = table, row, "memo"
		for _, c := range drafting.MayBeNumbered(&drafting.File{Proof: &p}) {
			names = append(names, c.Name)
		}
		return names
	}
	require.Equal(t, []string{"number", "documentNo", "reference", "number_in_year", "seat"}, names(drafting.Proof{}))
	require.Len(t, names(drafting.Proof{Removal: &drafting.Removal{}}), 5, "what is removed is gone")
	require.Empty(t, names(drafting.Proof{Removal: &drafting.Removal{Column: "deleted_at"}}), "the number of what is removed may be given again")
}
