package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

func TestWhatAHuntHasComeTo(t *testing.T) {
	t.Parallel()
	took := history.Offset(10 * time.Second)
	for want, h := range map[string]*checker.Hunt{
		"": nil,
		"The hunt ended with the first finding, after 40 exercised rounds in 10s (4 a second).":                                                                                                                         {Rounds: 40, Took: took, Ended: checker.HuntFound},
		"The hunt found nothing new in 3000 exercised rounds in 10s (300 a second): with 95% confidence, less than 0.1% of such rounds fail. That is the bound that was asked for.":                                     {Rounds: 3000, Took: took, Until: 0.001, Ended: checker.HuntBound},
		"The hunt found nothing new in 300 exercised rounds in 10s (30 a second): with 95% confidence, less than 1% of such rounds fail. The time for it was over. The bound that was asked for, 0.1%, is not reached.": {Rounds: 300, Took: took, Until: 0.001, Ended: checker.HuntTime},
		"The hunt found nothing new in 0 exercised rounds in 10s (0 a second). It could not go on.":                                                                                                                     {Took: took, Ended: checker.HuntStopped},
	} {
		require.Equal(t, want, huntSentence(h))
	}
}

// The results of a hunt are the last rounds of each scenario: their number bounds nothing.
func TestAHuntCountsAllItsRounds(t *testing.T) {
	t.Parallel()
	r := checker.Report{
		Verdict: checker.Pass,
		Results: []checker.Result{{Scenario: "race", Verdict: checker.Pass, Intents: 8, Exercise: []checker.Exercise{{Proof: "overlapped", Held: 8, Of: 8, Needed: 4}}}},
		Hunt: &checker.Hunt{Rounds: 3000, Took: history.Offset(10 * time.Second), Ended: checker.HuntTime, Arms: []checker.Arm{
			{Scenario: "race", Of: "race", Batches: 4, Rounds: 3000, Signs: 0.125, Took: history.Offset(9 * time.Second)},
			{Scenario: "race-2-copies", Of: "race", With: "2 copies", Batches: 3},
		}},
	}
	var text, markdown strings.Builder
	require.NoError(t, Text(&text, r, Style{}))
	require.NoError(t, Markdown(&markdown, r))
	for _, all := range []string{text.String(), markdown.String()} {
		all = strings.Join(strings.Fields(all), " ")
		require.Contains(t, all, "less than 0.1% of such rounds fail")
		require.Contains(t, all, "3000 rounds in 9s (333 a second), signs of trouble 0.12")
		require.Contains(t, all, "no round was exercised in 3 batches")
		require.NotContains(t, all, "38%", "of eight rounds")
	}
}
