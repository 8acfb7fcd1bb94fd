package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/engine"
)

func TestProgressSaysHowFarTheRunIs(t *testing.T) {
	t.Parallel()
	var w wholeRun
	w.announced(engine.Announced{Scenarios: []engine.Planned{{Name: "a", Intents: 10}, {Name: "none"}, {Name: "b", Intents: 10}, {Name: "c", Intents: 20}}})
	begun := time.Now()
	require.Equal(t, "1/3 a", w.label("a", begun))
	require.Equal(t, "2/3 b, about 30s left", w.label("b", begun.Add(10*time.Second)))
	require.Equal(t, "3/3 c, about 20s left", w.label("c", begun.Add(20*time.Second)))
	require.Equal(t, "a", w.label("a", begun.Add(time.Minute)), "it is played once more")
}
