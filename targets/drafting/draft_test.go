package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestMembersOfAListDiffer holds that what names one thing differs from create to create where it stands in a list, as in a batch.
func TestMembersOfAListDiffer(t *testing.T) {
	t.Parallel()
	order := map[string]any{"external_id": "A-1", "buyer": "jane@example.com", "note": "lamp"}
	f := drafting.File{Target: "a", BaseURL: "http://localhost", Differing: []string{"/orders/0/external_id"}, Draft: drafting.Draft{
		Name: "create", Method: "POST", Path: "/orders/batch", Body: map[string]any{"orders": []any{order}}, Texts: []string{"/orders/0/note"},
	}}
	written, err := f.Text()
	require.NoError(t, err)
	require.Contains(t, written, "external_id: A-{{.Intent.Reference}}")
	require.Contains(t, written, "buyer: '{{.Intent.Reference}}@example.com'")
}

func TestIdsOfOtherThingsAreNotAltered(t *testing.T) {
	t.Parallel()
	text := func(members ...string) string {
		f := drafting.File{Target: "a", BaseURL: "http://localhost", Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}}}
		for _, name := range members {
			f.Draft.Body[name] = int64(1)
			f.Draft.Others = append(f.Draft.Others, drafting.Other{Pointer: "/" + name, Value: int64(2)})
		}
		written, err := f.Text()
		require.NoError(t, err)
		return written
	}
	require.Contains(t, text("customer_id", "productId", "paid", "ref-uuid"), "alter: {paid: 2}")
	require.NotContains(t, text("customer_id", "id"), "alter:")
}

// TestWhatACallIsOfIsNoneOfItsParameters holds that another version or method of JSON-RPC is no other body.
func TestWhatACallIsOfIsNoneOfItsParameters(t *testing.T) {
	t.Parallel()
	for params, alter := range map[string]string{
		`{"name": "printers", "cost": "12.50"}`: `alter: {params: {cost: "13.50"}}`,
		`{"name": "printers"}`:                  "",
	} {
		c, err := drafting.ReadCurl(`curl localhost:8080/rpc -d '{"jsonrpc": "2.0", "method": "group", "id": 1, "params": ` + params + `}'`)
		require.NoError(t, err)
		d := c.Draft("API")
		d.GuessTexts()
		require.Equal(t, []string{"/params/name"}, d.Texts)
		text, err := drafting.File{Target: "a", BaseURL: "http://localhost:8080", Draft: d}.Text()
		require.NoError(t, err)
		require.Contains(t, text, alter)
		require.NotContains(t, text, `"3.0"`)
		require.Contains(t, text, "method: group\n")
	}
}
