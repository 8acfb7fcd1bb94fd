package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/rundir"
)

// A rate is one of the tries that were exercised, and the sentence says of how many.
func TestATallyCountsWhatWasExercised(t *testing.T) {
	t.Parallel()
	all := tally{finding: rundir.Finding{Finding: checker.Finding{Kind: checker.Duplicate}}, reproduced: 3, clean: 14}
	require.Regexp(t, `^reproduced: duplicate in 3 of 17 tries \(18%`, all.String())
	some := tally{finding: all.finding, reproduced: 3, clean: 14, unexercised: 3}
	require.Regexp(t, `^reproduced: duplicate in 3 of 17 exercised \(20 tries\) \(18%`, some.String())
}

// A finding is sent until it would have shown, if each try is like a round of the run.
func TestAReplayIsRepeatedByTheRateOfItsFinding(t *testing.T) {
	t.Parallel()
	for want, f := range map[int]rundir.Finding{
		leastTries: {Shown: 12, Of: 12}, // a run of its own may be another
		7:          {Shown: 6, Of: 12},
		14:         {Shown: 3, Of: 12},
		mostTries:  {Shown: 1, Of: 96},
	} {
		r := replayOptions{times: 1}
		r.choose(f)
		require.Equal(t, want, r.times, "%+v", f)
		require.True(t, r.untilFail)
	}
	unknown, counted, hunting := replayOptions{times: 1}, replayOptions{times: 3, counted: true}, replayOptions{times: 1, untilFail: true}
	unknown.choose(rundir.Finding{})
	counted.choose(rundir.Finding{Shown: 1, Of: 2})
	hunting.choose(rundir.Finding{Shown: 1, Of: 2})
	require.Equal(t, 1, unknown.times)
	require.Equal(t, 3, counted.times)
	require.False(t, counted.untilFail)
	require.Equal(t, math.MaxInt, hunting.times)
}
