package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A listing may be known, and what it listed be gone again when it is looked for.
func TestAListingThatNoCreateHasProvenIsADoubt(t *testing.T) {
	text, err := File{Access: Access{Listing: &Asked{Path: "/t?note={{.Intent.Marker}}"}}, Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}}}.Text()
	require.NoError(t, err)
	require.Contains(t, text, "Where the rows are")
	require.NotContains(t, text, "rows: #")
}
