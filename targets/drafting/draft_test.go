package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// landing is a row of a table in which markers have landed.

// TestWhatIsWrittenIsRead writes values that YAML, variables and templates could misread, and reads them back.

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
