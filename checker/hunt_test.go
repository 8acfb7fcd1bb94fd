package checker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAHuntBoundsWhatItDidNotFind(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, Hunt{}.Bound(), 0, "nothing was exercised")
	require.InDelta(t, 0.001, Hunt{Rounds: 3000}.Bound(), 1e-12)
	require.True(t, Hunt{Rounds: 3000, Until: 0.001}.Reached())
	require.False(t, Hunt{Rounds: 2999, Until: 0.001}.Reached())
	require.True(t, Hunt{}.Reached(), "none was asked for")
	require.False(t, Hunt{Until: 0.999}.Reached(), "without a round there is no bound")
}

func TestTheVerdictOnAHunt(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		hunt Hunt
		all  Verdict
		want Verdict
	}{
		"none in all the time":              {Hunt{Rounds: 10, Ended: HuntTime}, Pass, Pass},
		"the bound is reached":              {Hunt{Rounds: 300, Until: 0.01, Ended: HuntBound}, Pass, Pass},
		"the bound is not reached":          {Hunt{Rounds: 10, Until: 0.01, Ended: HuntTime}, Pass, Inconclusive},
		"nothing was exercised":             {Hunt{Ended: HuntTime}, Pass, Inconclusive},
		"the target was gone":               {Hunt{Rounds: 10, Ended: HuntStopped}, Pass, Inconclusive},
		"a finding outranks the bound":      {Hunt{Rounds: 10, Until: 0.01, Ended: HuntFound}, Fail, Fail},
		"a known bug that was not seen now": {Hunt{Rounds: 10, Ended: HuntTime}, Mended, Pass},
		"what could not be judged":          {Hunt{Rounds: 10, Ended: HuntStopped}, Broken, Broken},
	} {
		results := []Result{{Verdict: row.all, Reasons: []string{"x"}}}
		require.Equal(t, row.want, row.hunt.Verdict(results, row.all), name)
		require.NotEqual(t, Mended, results[0].Verdict, name)
	}
}
