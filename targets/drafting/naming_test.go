package drafting

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestANameThatNoKeyReadsLike holds that a name is known by its being another one for each create, and the same for a repetition.
func TestANameThatNoKeyReadsLike(t *testing.T) {
	t.Parallel()
	of := func(id, request string) Answer {
		return Answer{Status: 201, Key: "k-" + id, Body: map[string]any{
			"order": map[string]any{"id": id, "customer_id": "c1", "note": "m", "reference": "r-" + id}, "idempotency_key": "k-" + id, "request_id": request, "token": "k-" + id,
		}}
	}
	file := func() *File {
		return &File{
			Draft: Draft{Body: map[string]any{"note": "x", "reference": "y"}, Key: InHeader("Idempotency-Key")},
			Proof: &Proof{Told: of("xK2", "1").Body, Table: databases.Table{Name: "orders"}},
		}
	}
	f := file()
	f.Learn(Repeated{First: of("pQ9", "2"), Again: of("pQ9", "3"), Rows: 1})
	require.Equal(t, contract.Identity{JSON: "/order/id"}, f.Proof.Named)
	for name, r := range map[string]Repeated{
		"a repetition has another one": {First: of("pQ9", "2"), Again: of("rT3", "3"), Rows: 1},
		"it is that of the one before": {First: of("xK2", "2"), Again: of("xK2", "3"), Rows: 1},
		"the repetition made a row":    {First: of("pQ9", "2"), Again: of("pQ9", "3"), Rows: 2},
		"the repetition was refused":   {First: of("pQ9", "2"), Again: Answer{Status: 409, Body: of("pQ9", "2").Body}, Rows: 1},
		"it is only accepted":          {First: Answer{Status: 202, Body: of("pQ9", "2").Body}, Again: of("pQ9", "2"), Rows: 1},
	} {
		f := file()
		f.Learn(r)
		require.Empty(t, f.Proof.Named, name)
	}
	f = file()
	shown, found := databases.Showing("16", "r-16")
	require.True(t, found)
	f.Proof.Named, f.Proof.Identity, f.Proof.Shown = contract.Identity{JSON: "/order/reference"}, "id", shown
	f.Learn(Repeated{First: of("pQ9", "2"), Again: of("pQ9", "3"), Rows: 1, Row: map[string]string{"id": "17"}})
	require.Equal(t, contract.Identity{JSON: "/order/id"}, f.Proof.Named, "another row is not shown so")
	require.Empty(t, f.Proof.Identity)
}

// TestColumnsThatAreCountedInStep holds by which column an answer names a row, where two have had its value.
func TestColumnsThatAreCountedInStep(t *testing.T) {
	t.Parallel()
	columns := func(names ...string) (all []databases.Column) {
		for _, name := range names {
			all = append(all, databases.Column{Name: name})
		}
		return all
	}
	terms := databases.Table{Name: "terms", Primary: []string{"term_taxonomy_id"}, Unique: [][]string{{"term_id", "taxonomy"}}, Columns: columns("term_taxonomy_id", "term_id")}
	orders := databases.Table{Name: "orders", Primary: []string{"id"}, Unique: [][]string{{"customer_id", "note"}}, Columns: columns("id", "customer_id")}
	refers := func(table, column, to string) databases.Table {
		return databases.Table{Name: table, Primary: []string{"id"}, Columns: columns("id", "name", column), Refers: []databases.Reference{{Column: column, Table: to, Theirs: "id"}}}
	}
	inStep := func(column, n string) map[string]string { return map[string]string{"id": n, column: n} }
	for name, c := range map[string]struct {
		table          databases.Table
		identity       string
		first, another map[string]string
		member, is     string
		doubted        bool
	}{
		"in step, and one is in a constraint": {terms, "term_taxonomy_id", map[string]string{"term_taxonomy_id": "7", "term_id": "7"}, map[string]string{"term_taxonomy_id": "8", "term_id": "8"}, "id", "term_id", true},
		"in step no more":                     {terms, "term_taxonomy_id", map[string]string{"term_taxonomy_id": "7", "term_id": "7"}, map[string]string{"term_taxonomy_id": "9", "term_id": "8"}, "id", "term_id", false},
		"alike by chance":                     {orders, "id", map[string]string{"id": "7", "customer_id": "7"}, map[string]string{"id": "8", "customer_id": "7"}, "id", "id", false},
		"called as the member":                {orders, "id", map[string]string{"id": "7", "customer_id": "7"}, map[string]string{"id": "8", "customer_id": "8"}, "id", "id", false},
		"the other is called so":              {orders, "id", map[string]string{"id": "7", "customer_id": "7"}, map[string]string{"id": "8", "customer_id": "8"}, "customerId", "customer_id", true},
		"a part, with the thing's id":         {refers("facet_translation", "baseId", "facet"), "id", inStep("baseId", "7"), inStep("baseId", "8"), "id", "baseId", true},
		"another thing":                       {refers("invoices", "customer_id", "shop.customers"), "id", inStep("customer_id", "7"), inStep("customer_id", "8"), "id", "id", true},
		"the path is called as the part":      {refers("order_lines", "order_id", "orders"), "id", inStep("order_id", "7"), inStep("order_id", "8"), "id", "id", true},
	} {
		answer := Answer{Status: 201, Body: map[string]any{c.member: "8"}}
		before := Answer{Status: 201, Body: map[string]any{c.member: "6"}}
		for _, r := range []Repeated{{First: answer, Again: answer, Rows: 1, Row: c.another}, {First: before, Again: answer, Rows: 2, Row: c.another}} {
			f := &File{Draft: Draft{Path: "/lines", Body: map[string]any{"note": "x"}}, Proof: &Proof{
				Table: c.table, Row: c.first, Identity: c.identity, Named: contract.Identity{JSON: "/" + c.member}, Told: map[string]any{c.member: "7"},
			}}
			f.Learn(r)
			require.Equal(t, c.is, f.Proof.Identity, name)
			require.Equal(t, c.doubted, strings.Contains(strings.Join(f.Doubts, "\n"), "Which column"), name)
		}
	}
}

// TestAcknowledgementsThatNameNothing holds that init says of an acknowledgement that lacks what the first one names that something may be lost.
func TestAcknowledgementsThatNameNothing(t *testing.T) {
	t.Parallel()
	created := Answer{Status: 201, Body: map[string]any{"id": "7", "at": "1"}}
	bare := Answer{Status: 201, Body: map[string]any{"status": "ok"}}
	const lost, unjudged = "in an answer that has no such place", "it may have been thrown away"
	for name, c := range map[string]struct {
		again, altered Answer
		doubts, lacks  []string
	}{
		"neither names anything":  {bare, bare, []string{lost, unjudged}, nil},
		"only another body's":     {created, bare, []string{unjudged}, []string{lost}},
		"both name the first":     {created, created, nil, []string{lost, unjudged}},
		"another thing":           {created, Answer{Status: 201, Body: map[string]any{"id": "8"}}, nil, []string{lost, unjudged}},
		"another body is refused": {bare, Answer{Status: 422, Body: map[string]any{"code": "reused"}}, []string{lost}, []string{unjudged}},
	} {
		f := &File{Draft: Draft{Body: map[string]any{"note": "x"}, Key: InHeader("Idempotency-Key")}, Proof: &Proof{
			Table: databases.Table{Name: "orders", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id"}}},
			Row:   map[string]string{"id": "6"}, Identity: "id", Named: contract.Identity{JSON: "/id"}, Told: map[string]any{"id": "6"},
		}}
		f.Learn(Repeated{First: created, Again: c.again, Altered: &c.altered, Rows: 1, Row: map[string]string{"id": "7"}})
		doubts := strings.Join(f.Doubts, "\n")
		for _, doubt := range c.doubts {
			require.Contains(t, doubts, doubt, name)
		}
		for _, doubt := range c.lacks {
			require.NotContains(t, doubts, doubt, name)
		}
	}
}
