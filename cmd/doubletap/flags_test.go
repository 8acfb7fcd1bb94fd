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
