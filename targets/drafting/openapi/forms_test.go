package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
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
