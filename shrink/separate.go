package shrink

import (
	"context"
	"errors"
	"time"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// What is left is played in runs of its own, as whoever gets the file will play it. Rounds of one run are not independent: a pool that is
// warm, a neighbour or a cache make a race likely in one run, and rare in the next.
const (
	separateRuns = 8   // that it has to show in, each
	longestRun   = 240 // rounds, where it takes so many
)

// errOver says that runs ended before one of them did.
var errOver = errors.New("interrupted")

// separately plays runs of a scenario, each with links, connections and, where the process is ours, a process of its own, and finds
// how many rounds it takes to show in each of them, up to most.
func (k *shrinker) separately(ctx context.Context, s scenarios.Scenario, rounds, most int) (rundir.Seen, error) {
	end := time.Now().Add(k.options.Budget / 2)
	seen, err := repeated(rounds, most, func() bool { return time.Now().After(end) }, func(rounds int) (bool, error) {
		var test sequential
		err := k.afresh(ctx, s, rounds, &test)
		if err == nil && ctx.Err() != nil {
			err = errOver
		}
		return test.k > 0, err
	})
	if errors.Is(err, errOver) {
		err = nil
	}
	return seen, err
}

// repeated plays runs until something showed in each of separateRuns of so many rounds. Where one did not show it, runs get twice as
// many rounds, up to most, and are counted anew. When the time is over, all runs count that were played. What did not show at all in
// runs of firstRounds is given up.
func repeated(rounds, most int, over func() bool, play func(rounds int) (shown bool, err error)) (rundir.Seen, error) {
	enough := min(most, max(firstRounds, rounds))
	var all rundir.Seen
	for {
		seen := rundir.Seen{Rounds: rounds}
		for seen.Runs < separateRuns {
			shown, err := play(rounds)
			if err != nil {
				return all, err
			}
			seen.Count(shown)
			all.Count(shown)
			all.Rounds = rounds
			if over() || all.Shown == 0 && rounds >= enough {
				return all, nil
			}
			if !shown && rounds < most {
				break
			}
		}
		if seen.Runs == separateRuns {
			return seen, nil
		}
		rounds = min(2*rounds, most)
	}
}

// afresh plays rounds against the target as it is when it starts: what was played before is no part of the scenario.
func (k *shrinker) afresh(ctx context.Context, s scenarios.Scenario, rounds int, test *sequential) error {
	if ctx.Err() == nil {
		session, err := engine.Open(ctx, k.options.Config)
		if err != nil {
			return err
		}
		err = engine.Discard(k.session, true)
		k.session = session
		if err != nil {
			return err
		}
	}
	_, err := k.play(ctx, s, rounds, test)
	return err
}
