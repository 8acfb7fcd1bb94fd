package drafting

import (
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
