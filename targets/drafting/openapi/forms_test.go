package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
)

func TestAFormHasWhatADocumentSpellsInOneWay(t *testing.T) {
	t.Parallel()
	d := draft(t, "forms.yaml", "")
	require.True(t, d.Form)
	require.Equal(t, map[string]any{"amount": int64(100), "currency": "eur", "description": "sample"}, d.Body)
	require.Equal(t, []string{"/description"}, d.Texts)
	for _, o := range d.Others {
		require.Contains(t, []string{"/amount", "/currency", "/description"}, o.Pointer)
	}
	require.Equal(t, "/id", d.Identity)
	require.Contains(t, d.Doubts[0], "Whether the sample body fits its schema", "which requires what is left out")
}

// TestWhatHasNoBodySaysItInItsQuery holds that the parameters of a POST without a body are its members, but for its key and secrets, and that such a
// POST counts for a create only where no other one does.
func TestWhatHasNoBodySaysItInItsQuery(t *testing.T) {
	t.Parallel()
	d := draft(t, "query.yaml", "")
	require.True(t, d.Query && !d.Form)
	require.Equal(t, map[string]any{"seats": int64(2), "title": "sample"}, d.Body)
	require.Equal(t, []string{"/title"}, d.Texts)
	require.Equal(t, "/id", d.Identity)
	require.Equal(t, contract.Key{In: contract.KeyInQuery, Name: "request_id", Required: true, Format: contract.OnlyUUID}, d.Key.Key)
	require.Contains(t, d.Path, "/tickets?api_key=")
}
