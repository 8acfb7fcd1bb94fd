package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
)

func TestAVerdictInTheLightOfTheTruth(t *testing.T) {
	t.Parallel()
	broken := checker.Truth{Shows: []checker.Kind{checker.Duplicate, checker.PhantomRow}, By: []string{"burst"}}
	correct := checker.Truth{Correct: true}
	found := func(kinds ...checker.Kind) (all []checker.Finding) {
		for _, k := range kinds {
			all = append(all, checker.Finding{Kind: k})
		}
		return all
	}
	for name, c := range map[string]struct {
		truth    checker.Truth
		scenario string
		verdict  checker.Verdict
		findings []checker.Finding
		want     checker.Mark
	}{
		"a broken one, by its name":              {broken, "burst", checker.Fail, found(checker.Leak, checker.Duplicate), checker.Caught},
		"a broken one, where nobody expected it": {broken, "tabs", checker.Fail, found(checker.PhantomRow), checker.Caught},
		"a broken one, by another name":          {broken, "burst", checker.Fail, found(checker.Leak), checker.Misnamed},
		"a broken one that was to be caught":     {broken, "burst", checker.Pass, nil, checker.Missed},
		"a broken one elsewhere":                 {broken, "tabs", checker.Pass, nil, checker.Clean},
		"a broken one, not exercised":            {broken, "burst", checker.Inconclusive, nil, checker.Unsure},
		"a correct one":                          {correct, "burst", checker.Pass, nil, checker.Clean},
		"a correct one that is flagged":          {correct, "burst", checker.Fail, found(checker.Duplicate), checker.FalseAlarm},
		"a correct one, not exercised":           {correct, "burst", checker.Inconclusive, nil, checker.Unsure},
		"nothing to test":                        {broken, "burst", checker.NotApplicable, nil, checker.Idle},
		"no judgement":                           {correct, "burst", checker.Broken, nil, checker.Unjudged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.truth.Mark(checker.Result{Scenario: c.scenario, Verdict: c.verdict, Findings: c.findings}))
		})
	}
}

func TestARunIsRightOrNot(t *testing.T) {
	t.Parallel()
	broken, correct := checker.Truth{}, checker.Truth{Correct: true}
	require.True(t, broken.Right([]checker.Mark{checker.Clean, checker.Caught, checker.Missed}))
	require.False(t, broken.Right([]checker.Mark{checker.Clean, checker.Misnamed, checker.Unsure}))
	require.True(t, correct.Right([]checker.Mark{checker.Clean, checker.Idle}))
	for _, m := range []checker.Mark{checker.FalseAlarm, checker.Unsure, checker.Unjudged, checker.Unplayed} {
		require.False(t, correct.Right([]checker.Mark{checker.Clean, m}), m)
	}
}
