package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// member is an attempt of a burst that was let go at a time, at the doorstep.
func member(at float64) history.Attempt {
	a := watched(at, at+20, during(1, 90, acknowledged(201, "o1")))
	a.Passage.Held, a.Passage.Released, a.Together = ms(at-1), ms(at), true
	return a
}

// before is a member that was let go in front of the lane.
func before(at float64) history.Attempt {
	a := member(at)
	a.Passage, a.Wrote = nil, ms(at)
	return a
}

func TestTheTightnessOfBurstsIsThatOfTheirReleases(t *testing.T) {
	t.Parallel()
	of := func(attempts ...history.Attempt) *checker.Bursts {
		return story(attempts...).rows(1).check(terms()).Bursts
	}
	require.Nil(t, of(acknowledged(201, "o1")))
	require.Equal(t, &checker.Bursts{Count: 1, Members: 3, Gate: checker.GateDoorstep, Median: ms(4), P90: ms(4), Most: ms(4)},
		of(member(10), member(14), member(12), acknowledged(201, "o1")))
	require.Equal(t, &checker.Bursts{Count: 1, Members: 2, Gate: checker.GateLane, Median: ms(5), P90: ms(5), Most: ms(5)},
		of(before(10), before(15)))
	lost := member(13)
	lost.Passage.Released = 0
	require.Nil(t, of(member(10), lost), "one was never let go")
	unwritten := before(13)
	unwritten.Wrote = 0
	require.Nil(t, of(before(10), unwritten))
	later := member(40)
	later.Step = 1
	r := story(member(10), member(11), later, func() history.Attempt { a := member(60); a.Step = 1; return a }()).rows(1).check(terms())
	require.Equal(t, 2, r.Bursts.Count)
	require.Equal(t, ms(20), r.Bursts.Most)
	h := scene(story(member(10), member(40)).rows(1), story(member(10), member(12)).named("i2").rows(1), story(member(10), member(20)).named("i3").rows(1))
	require.Equal(t, ms(10), check(h, terms()).Bursts.Median, "in whatever order they came")

	for gate, members := range map[checker.Gate][]history.Attempt{
		checker.GateWrite: {before(10), before(10)}, checker.GateDoorstep: {member(10), member(10)},
	} {
		h := scene(story(members...).rows(1))
		h.Run.Streams = true
		require.Equal(t, gate, check(h, terms()).Bursts.Gate)
	}
}

func TestWhatBurstsHitIsThatOfTheWorstStep(t *testing.T) {
	t.Parallel()
	steps := func(calibrated ...history.Calibration) *checker.Hits {
		h := scene(story(member(10), member(12)).rows(1))
		h.Run.Calibrated = calibrated
		return check(h, terms()).Bursts.Hits
	}
	gaps := func(n int, scale float64) history.Calibration {
		var c history.Calibration
		for i := range n {
			c.Gaps = append(c.Gaps, ms(float64(i+1)*scale))
		}
		return c
	}
	require.Nil(t, steps())
	require.Nil(t, steps(gaps(19, 1)), "too few say nothing about 95 of 100")
	require.Equal(t, &checker.Hits{Bursts: 20, Half: ms(10), Most: ms(19)}, steps(gaps(20, 1)))
	require.Equal(t, &checker.Hits{Bursts: 40, Half: ms(20), Most: ms(38)}, steps(gaps(20, 1), gaps(40, 1)))
	require.Equal(t, &checker.Hits{Bursts: 20, Half: ms(20), Most: ms(38)}, steps(gaps(20, 2), gaps(40, 0.5)))
	require.Nil(t, steps(gaps(20, 1), gaps(3, 1)))
}
