package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestWhatRunsOnByTheAmountOfEachRow(t *testing.T) {
	t.Parallel()
	table := databases.Table{Name: "entries", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id", Type: "bigint"}, {Name: "cents", Type: "int"}, {Name: "balance", Type: "numeric(12,2)"}}}
	for _, c := range []struct {
		name            string
		cents, balances [3]string
		want            bool
	}{
		{"more", [3]string{"300", "300", "301"}, [3]string{"900", "1200", "1501"}, true},
		{"less", [3]string{"12.50", "12.50", "13"}, [3]string{"0", "-12.50", "-25.5"}, true},
		{"each has another amount", [3]string{"5", "7", "11"}, [3]string{"5", "12", "23"}, true},
		{"by one, as what counts", [3]string{"1", "1", "1"}, [3]string{"1", "2", "3"}, false},
		{"the same amount in all, which the sum does not follow", [3]string{"300", "300", "301"}, [3]string{"900", "1200", "1500"}, false},
		{"the same", [3]string{"300", "300", "301"}, [3]string{"300", "300", "301"}, false},
	} {
		var rows []map[string]string
		for n := range c.cents {
			rows = append(rows, map[string]string{"id": "7", "cents": c.cents[n], "balance": c.balances[n]})
		}
		require.Equal(t, c.want, drafting.RunsOn(table, "balance", rows), c.name)
	}
}

func TestAChainOfRowsIsSeen(t *testing.T) {
	t.Parallel()
	table := databases.Table{Name: "deeds", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id", Type: "bigint"}, {Name: "prev_hash", Type: "text"}, {Name: "hash", Type: "text"}}}
	row := func(before, own string) map[string]string {
		return map[string]string{"prev_hash": before, "hash": own}
	}
	const a, b, c, d = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc", "dddddddddddddddd"
	require.True(t, drafting.Linked(table, "prev_hash", []map[string]string{row(a, b), row(b, c), row(c, d)}))
	require.False(t, drafting.Linked(table, "hash", []map[string]string{row(a, b), row(b, c), row(c, d)}), "the end of the chain")
	require.False(t, drafting.Linked(table, "prev_hash", []map[string]string{row(a, b), row(a, c), row(a, d)}))
	require.False(t, drafting.Linked(table, "prev_hash", []map[string]string{row(a, a), row(a, a), row(a, a)}), "all are the same")
}

func TestWhatIsMadeOfTheTimeIsInOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values [3]string
		want   bool
	}{
		{[3]string{"RMIJ0A1", "RMIJ0B0", "RMIJ0C9"}, true},
		{[3]string{"RMIJ0A1", "RMIJ0A1", "RMIJ0C9"}, false},
		{[3]string{"8211", "8212", "8250"}, false},
		{[3]string{"k3j4h5g6", "a0qwe9f1", "z7d8s9a0"}, false},
		{[3]string{"", "", ""}, false},
	} {
		var rows []map[string]string
		for _, value := range c.values {
			rows = append(rows, map[string]string{"code": value})
		}
		require.Equal(t, c.want, drafting.InOrder("code", rows), c.values)
	}
	f := drafting.File{Proof: &drafting.Proof{Table: databases.Table{Name: "orders"}}}
	drafting.NamedAlike(&f, "code", []map[string]string{{"code": "R1"}, {"code": "R2"}, {"code": "R3"}})
	require.Empty(t, f.Doubts)
	drafting.NamedAlike(&f, "code", []map[string]string{{"code": "R1"}, {"code": "R2"}, {"code": "R2"}})
	require.Len(t, f.Doubts, 1)
}

// Two accounts may have one balance, also where no foreign key says whose a row is.
func TestWhatIsSharedCountsWithinItsOwner(t *testing.T) {
	t.Parallel()
	table := databases.Table{Name: "entries", Primary: []string{"id"}, Refers: []databases.Reference{{Column: "book_id", Table: "books"}}}
	for _, name := range []string{"id", "book_id", "tenant", "customerId", "account_number", "user_agent", "currency", "client", "memo", "balance"} {
		table.Columns = append(table.Columns, databases.Column{Name: name, Type: "text"})
	}
	row := func(client, balance string) map[string]string {
		return map[string]string{"book_id": "1", "tenant": "acme", "customerId": "7", "account_number": "12", "user_agent": "curl", "client": client, "balance": balance}
	}
	f := drafting.File{Proof: &drafting.Proof{Table: table, Where: drafting.Where{Column: "memo"}}}
	drafting.Sums(&f, "balance", []map[string]string{row("a", "10"), row("b", "20"), row("c", "30")})
	require.Equal(t, [][]string{{"balance", "book_id", "tenant", "customerId", "account_number"}}, f.Proof.Numbers)
}

func TestWhatIsFullAgainAfterAWhileRunsOnNowhere(t *testing.T) {
	t.Parallel()
	table := databases.Table{Name: "calls", Primary: []string{"id"}}
	row := map[string]string{}
	for _, name := range []string{"id", "cost", "quota_left", "used_this_hour", "limit_remaining", "balance"} {
		table.Columns, row[name] = append(table.Columns, databases.Column{Name: name, Type: "integer"}), "7"
	}
	var names []string
	for _, c := range drafting.MayRunOn(&drafting.File{Proof: &drafting.Proof{Table: table, Row: row}}) {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"cost", "balance"}, names)
}
