package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestATargetThatLeavesRequestsWithoutAnAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	hung := history.Attempt{
		Intent: "i1", Lane: scenarios.Clean, ErrorKind: history.Timeout, Wrote: 1, Deadline: history.Offset(usualTimeout),
	}
	with := func(change func(a *history.Attempt)) history.Attempt {
		a := hung
		change(&a)
		return a
	}
	line := &transmitter{config: &Config{GiveUp: 2}}
	for _, a := range []history.Attempt{
		hung, hung, // of one intent
		with(func(a *history.Attempt) { a.Intent, a.Lane = "i2", "slow" }),
		with(func(a *history.Attempt) { a.Intent, a.Deadline = "i2", 1 }),
		with(func(a *history.Attempt) { a.Intent, a.Wrote = "i2", 0 }),
		with(func(a *history.Attempt) { a.Intent, a.ErrorKind = "i2", history.Closed }),
		with(func(a *history.Attempt) { a.Intent, a.Probe = "i2", true }),
	} {
		line.waiting.note(a)
	}
	require.False(t, line.givenUp(false))
	require.False(t, line.givenUp(true))
	line.waiting.note(with(func(a *history.Attempt) { a.Intent = "i2" }))
	require.True(t, line.givenUp(false))
	require.False(t, line.givenUp(true), "the final retry has its own count")
	require.False(t, line.waiting.answered)
	line.waiting.note(history.Attempt{Complete: true})
	require.True(t, line.waiting.answered)
	line.config = &Config{}
	require.False(t, line.givenUp(false), "unless nobody asks for it")
}

func TestAClientWaitsLongerForASlowTarget(t *testing.T) {
	t.Parallel()
	plan := scenarios.Plan{Concurrency: 2, Intents: []scenarios.PlannedIntent{{Moves: []scenarios.Move{{Batch: make([]scenarios.PlannedAttempt, 10)}}}}}
	for normal, patience := range map[string]string{"20ms": "10s", "300ms": "18s", "5s": "1m0s"} {
		c := Config{Workload: Workload{Plan: plan}, Normal: duration(t, normal)}
		require.Equal(t, patience, c.patience().String(), normal)
	}
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}
