package shrink

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSequentialTestDecidesSoonAndSeldomWrongly(t *testing.T) {
	t.Parallel()
	const trials = 2000
	for _, rate := range []float64{1, 0.9, 0.5, 0.1} {
		draw := rand.New(rand.NewPCG(7, 7))
		decide := func(truth float64) (good bool, n int) {
			test := keeps(rate)
			for {
				k := 0
				if draw.Float64() < truth {
					k = 1
				}
				test.add(k, 1)
				if good, done := test.decided(); done {
					return good, test.n
				}
			}
		}
		wrong := map[bool]int{}
		for range trials {
			if good, _ := decide(keeps(rate).good); !good {
				wrong[true]++
			}
			if good, _ := decide(keeps(rate).bad); good {
				wrong[false]++
			}
		}
		require.Less(t, wrong[true], trials*6/100, "a rate of %g is lost", rate)
		require.Less(t, wrong[false], trials*6/100, "half of a rate of %g is kept", rate)
	}
}

func TestASureThingIsDecidedInAFewRounds(t *testing.T) {
	t.Parallel()
	always, never := keeps(1), keeps(1)
	always.add(4, 4)
	_, done := always.decided()
	require.False(t, done)
	always.add(1, 1)
	good, done := always.decided()
	require.True(t, good && done)
	never.add(0, 3)
	_, done = never.decided()
	require.False(t, done)
	never.add(0, 1)
	good, done = never.decided()
	require.True(t, !good && done)
}
