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

func TestElsewhereALineNowAndThenSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	out := &text{}
	p := newProgress(out, "matrix")
	p.tellAtTimes("1 of 3 runs are done")
	require.Empty(t, out.String(), "it has only begun")
	p.said = time.Now().Add(-toldEvery)
	p.tellAtTimes("2 of 3 runs are done")
	p.tellAtTimes("3 of 3 runs are done")
	require.Equal(t, "matrix: 2 of 3 runs are done\n", out.String())
}
