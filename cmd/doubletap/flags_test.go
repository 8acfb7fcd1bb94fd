package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/engine"
)

func TestAShareOfRoundsSaysHowManyItTakes(t *testing.T) {
	t.Parallel()
	for text, row := range map[string]struct {
		rounds int
		shown  string
	}{"1%": {300, "1%"}, "0.01": {300, "1%"}, "5%": {60, "5%"}, "30%": {10, "30%"}, "0.7%": {429, "0.7%"}} {
		var b share
		require.NoError(t, b.Set(text), text)
		require.Equal(t, row.rounds, engine.Rounds(float64(b)), text)
		require.Equal(t, row.shown, b.String(), text)
	}
	for _, text := range []string{"", "0", "0%", "-1%", "1", "100%", "all", "NaN"} {
		var b share
		require.ErrorContains(t, b.Set(text), "1% or 0.01", text)
	}
}

// A name that is no file's is often a built-in target's with a slip.
func TestATargetWithASlipIsNamed(t *testing.T) {
	t.Parallel()
	for given, meant := range map[string]string{
		"bultin:unique-key": "builtin:unique-key", "built-in:x": "builtin:x", "serve:unique-key": "served:unique-key", "unique-key": "builtin:unique-key",
		"orders.yaml": "", "http://127.0.0.1:8080": "", `C:\orders.yaml`: "", "builtin:x": "", "": "",
	} {
		require.Equal(t, meant, meantBuiltIn(given), given)
	}
}
