package shrink

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// inTime says that there is time for more runs.
func inTime() bool { return false }

// Rounds of one run are not independent: the chance of a round is one of its run. Here a run of few rounds never shows it, and what the
// rounds of one run say of others is nothing.
func TestRoundsAreChosenByRunsAndNotByTheRoundsOfOne(t *testing.T) {
	t.Parallel()
	cold := 7 // the first rounds of every run, in which it does not show
	var lengths []int
	seen, err := repeated(rundir.Rounds(20, 20), longestRun, inTime, func(rounds int) (bool, error) {
		lengths = append(lengths, rounds)
		return rounds > cold, nil
	})
	require.NoError(t, err)
	require.Equal(t, rundir.Seen{Shown: separateRuns, Runs: separateRuns, Rounds: 8}, seen)
	require.Equal(t, []int{2, 4}, lengths[:2], "a run without it is answered with longer ones at once")
}

// In three of seven runs the chance is high, and in the others it is low: then a number is said that was seen.
func TestWhatOnlySomeRunsShowIsSaidSo(t *testing.T) {
	t.Parallel()
	run := 0
	some := func(rounds int) (bool, error) {
		run++
		return run%7 < 3 || rounds > 1000, nil
	}
	seen, err := repeated(2, 16, inTime, some)
	require.NoError(t, err)
	require.Equal(t, 16, seen.Rounds)
	require.Equal(t, separateRuns, seen.Runs)
	require.Less(t, seen.Shown, seen.Runs)
	require.Positive(t, seen.Shown)
}

func TestRunsThatWerePlayedCountWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	runs := 0
	seen, err := repeated(2, longestRun, func() bool { return runs == 4 }, func(int) (bool, error) {
		runs++
		return runs != 2, nil
	})
	require.NoError(t, err)
	require.Equal(t, rundir.Seen{Shown: 3, Runs: 4, Rounds: 4}, seen, "that which did not show it is not forgotten")

	runs = 0
	gone := errors.New("gone")
	seen, err = repeated(2, longestRun, inTime, func(int) (bool, error) {
		if runs++; runs == 3 {
			return false, gone
		}
		return true, nil
	})
	require.ErrorIs(t, err, gone)
	require.Equal(t, rundir.Seen{Shown: 2, Runs: 2, Rounds: 2}, seen, "a run that was cut short says nothing")
}

func TestWhatDoesNotShowInRunsOfItsOwnIsGivenUp(t *testing.T) {
	t.Parallel()
	runs := 0
	seen, err := repeated(2, longestRun, inTime, func(int) (bool, error) { runs++; return false, nil })
	require.NoError(t, err)
	require.Equal(t, rundir.Seen{Runs: 5, Rounds: 32}, seen)
	require.Equal(t, 5, runs)
}
