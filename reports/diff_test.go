package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

// duplicates is a scenario in which k of n intents made two rows.
func duplicates(scenario string, k, n int) checker.Result {
	res := passed(scenario, n)
	for i := range k {
		f := lostThenRetried()
		f.Detail, f.ID, f.Intent = "", fmt.Sprintf("F%d", i+1), fmt.Sprintf("i%03d", i+1)
		res.Findings = append(res.Findings, f)
	}
	if k > 0 {
		res.Verdict, res.Failed = checker.Fail, k
	}
	return res
}

func unproven(scenario string) checker.Result {
	res := passed(scenario, 12)
	res.Verdict, res.Reasons = checker.Inconclusive, []string{"not exercised: 2 requests at once in 3 of 12 intents, 10 needed"}
	return res
}

func run(results ...checker.Result) checker.Report {
	verdict := checker.Pass
	for _, res := range results {
		if res.Verdict != checker.Pass {
			verdict = res.Verdict
		}
	}
	return report(verdict, results...)
}

func TestCompareSaysWhatBecameOfABrokenPromise(t *testing.T) {
	t.Parallel()
	cutShort := duplicates("a", 0, 12)
	cutShort.Findings = []checker.Finding{altered()}
	cutShort.Verdict, cutShort.Reasons = checker.Fail, []string{"the run was killed"}
	for _, row := range []struct {
		name        string
		old, recent checker.Result
		want        reports.Trend
		luck        bool
		outcome     reports.Outcome
	}{
		{"new in all intents", duplicates("a", 0, 12), duplicates("a", 12, 12), reports.Appeared, false, reports.Worse},
		{"new, however rarely", duplicates("a", 0, 300), duplicates("a", 1, 300), reports.Appeared, true, reports.Worse},
		{"new where the old run saw nothing", unproven("a"), duplicates("a", 1, 12), reports.Appeared, true, reports.Worse},
		{"still there", duplicates("a", 6, 12), duplicates("a", 6, 12), reports.Unchanged, true, reports.NotWorse},
		{"more often, by luck", duplicates("a", 3, 10), duplicates("a", 7, 10), reports.Unchanged, true, reports.NotWorse},
		{"more often, beyond luck", duplicates("a", 2, 10), duplicates("a", 8, 10), reports.Risen, false, reports.Worse},
		{"less often, beyond luck", duplicates("a", 8, 10), duplicates("a", 2, 10), reports.Fallen, false, reports.NotWorse},
		{"a longer run has more findings at the same rate", duplicates("a", 2, 10), duplicates("a", 60, 300), reports.Unchanged, true, reports.NotWorse},
		{"gone", duplicates("a", 12, 12), duplicates("a", 0, 12), reports.Gone, false, reports.NotWorse},
		{"gone, maybe by luck", duplicates("a", 1, 12), duplicates("a", 0, 12), reports.Gone, true, reports.NotWorse},
		{"an inconclusive run does not make it gone", duplicates("a", 12, 12), unproven("a"), reports.Unjudged, true, reports.NotCompared},
		{"nor does another scenario", duplicates("a", 12, 12), duplicates("b", 0, 12), reports.Unjudged, true, reports.NotCompared},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := reports.Compare(run(row.old), run(row.recent))
			require.Len(t, c.Findings, 1)
			require.Equal(t, row.want, c.Findings[0].Trend)
			require.Equal(t, row.luck, c.Findings[0].Luck)
			require.Equal(t, row.outcome, c.Outcome)
		})
	}
	c := reports.Compare(run(duplicates("a", 12, 12)), run(cutShort))
	require.Len(t, c.Findings, 2)
	require.Equal(t, reports.Unjudged, c.Findings[0].Trend, "a run that was cut short had no time to find it")
}

func TestCompareGivesRatesWithIntervals(t *testing.T) {
	t.Parallel()
	c := reports.Compare(run(duplicates("a", 5, 10)), run(duplicates("a", 10, 10)))
	old, recent := *c.Findings[0].Old, *c.Findings[0].New
	require.Equal(t, []int{5, 10, 10, 10}, []int{old.Broke, old.Of, recent.Broke, recent.Of})
	require.InDelta(t, 0.2366, old.Low, 1e-4)
	require.InDelta(t, 0.7634, old.High, 1e-4)
	require.InDelta(t, 0.7225, recent.Low, 1e-4)
	require.InDelta(t, 1, recent.High, 1e-9)
	require.InDelta(t, 0.0325, *c.Findings[0].P, 1e-4)
}

func TestManyComparisonsDoNotMakeLuckACause(t *testing.T) {
	t.Parallel()
	old, recent := []checker.Result{duplicates("a", 2, 10)}, []checker.Result{duplicates("a", 8, 10)}
	require.Equal(t, reports.Worse, reports.Compare(run(old...), run(recent...)).Outcome)
	for i := range 9 {
		same := duplicates(fmt.Sprintf("b%d", i), 5, 10)
		old, recent = append(old, same), append(recent, same)
	}
	c := reports.Compare(run(old...), run(recent...))
	require.Equal(t, reports.NotWorse, c.Outcome)
	require.InDelta(t, 0.023, *c.Findings[0].P, 1e-3)
	require.InDelta(t, 0.23, *c.Findings[0].Adjusted, 1e-2)
}

func TestSeveralFindingsOfAnIntentCountOnce(t *testing.T) {
	t.Parallel()
	res := duplicates("a", 3, 12)
	for i := range res.Findings {
		res.Findings[i].Intent = "i001"
	}
	c := reports.Compare(run(duplicates("a", 0, 12)), run(res))
	require.Equal(t, 1, c.Findings[0].New.Broke)
}

func TestWhatShowsInAllIntentsTogetherIsOneTryPerRun(t *testing.T) {
	t.Parallel()
	res := duplicates("a", 1, 12)
	res.Findings[0].Kind, res.Findings[0].Intent = checker.EffectMismatch, checker.EveryIntent
	c := reports.Compare(run(duplicates("a", 0, 12)), run(res))
	require.Equal(t, "run", c.Findings[0].New.Unit)
	require.Equal(t, "run", c.Findings[0].Old.Unit)
	require.Equal(t, []int{0, 1, 1, 1}, []int{c.Findings[0].Old.Broke, c.Findings[0].Old.Of, c.Findings[0].New.Broke, c.Findings[0].New.Of})
	require.True(t, c.Findings[0].Luck)
}

func TestAGateHearsOfLostJudgements(t *testing.T) {
	t.Parallel()
	dead := passed("a", 12)
	dead.Verdict, dead.Reasons = checker.Broken, []string{"the target is gone"}
	idle := checker.Result{Scenario: "a", Verdict: checker.NotApplicable, Reasons: []string{"no key"}}
	sound := passed("z", 12)
	for _, row := range []struct {
		name        string
		old, recent []checker.Result
		want        reports.Outcome
	}{
		{"a pass that is inconclusive now", []checker.Result{passed("a", 12), sound}, []checker.Result{unproven("a"), sound}, reports.NotCompared},
		{"a pass that broke off now", []checker.Result{passed("a", 12), sound}, []checker.Result{dead, sound}, reports.NotCompared},
		{"a failure that is inconclusive now", []checker.Result{duplicates("a", 12, 12), sound}, []checker.Result{unproven("a"), sound}, reports.NotCompared},
		{"inconclusive as before", []checker.Result{unproven("a"), sound}, []checker.Result{unproven("a"), sound}, reports.NotWorse},
		{"inconclusive before, and broken off now", []checker.Result{unproven("a"), sound}, []checker.Result{dead, sound}, reports.NotWorse},
		{"inconclusive, and new in the library", []checker.Result{sound}, []checker.Result{unproven("a"), sound}, reports.NotWorse},
		{"a pass that does not apply any more", []checker.Result{passed("a", 12), sound}, []checker.Result{idle, sound}, reports.NotWorse},
		{"a part of the library", []checker.Result{passed("a", 12), sound}, []checker.Result{sound}, reports.NotWorse},
		{"nothing in common", []checker.Result{passed("a", 12)}, []checker.Result{sound}, reports.NotCompared},
		{"nothing judged in both", []checker.Result{unproven("a")}, []checker.Result{passed("a", 12)}, reports.NotCompared},
		{"a new finding outranks it", []checker.Result{passed("a", 12), sound}, []checker.Result{unproven("a"), duplicates("z", 1, 12)}, reports.Worse},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, reports.Compare(run(row.old...), run(row.recent...)).Outcome)
		})
	}
}

// everything is a comparison in which all that can happen happens.
func everything() reports.Comparison {
	marker := duplicates("effects", 1, 12)
	marker.Findings[0].Kind, marker.Findings[0].Detail, marker.Findings[0].Intent = checker.EffectMismatch, "stock", checker.EveryIntent
	old := run(
		duplicates("came", 0, 12), duplicates("rose", 20, 100), duplicates("stays", 5, 12), duplicates("fell", 90, 100),
		duplicates("went", 12, 12), duplicates("hidden", 3, 12), passed("faded", 12), passed("dropped", 12), passed("effects", 12),
	)
	recent := run(
		duplicates("came", 1, 12), duplicates("rose", 80, 100), duplicates("stays", 7, 12), duplicates("fell", 10, 100),
		duplicates("went", 0, 12), unproven("hidden"), unproven("faded"), passed("added", 12), marker,
	)
	recent.Run, recent.Seed, recent.Target, recent.Verdict, old.Verdict = "2026-03-05T050607Z-shop", 43, "orders, mended", checker.Fail, checker.Fail
	c := reports.Compare(old, recent)
	c.Terms = true
	return c
}

func TestComparisonGolden(t *testing.T) {
	t.Parallel()
	same := reports.Compare(allPass(), allPass())
	for name, c := range map[string]reports.Comparison{"diff": everything(), "diff-same": same} {
		for ext, write := range map[string]func(io.Writer) error{
			"txt":       func(w io.Writer) error { return reports.ComparisonText(w, c, reports.Style{}) },
			"color.txt": func(w io.Writer) error { return reports.ComparisonText(w, c, reports.Style{Color: true, Width: 60}) },
			"json":      func(w io.Writer) error { return reports.ComparisonJSON(w, c) },
		} {
			var b bytes.Buffer
			require.NoError(t, write(&b))
			compare(t, name+"."+ext, b.Bytes())
			require.ErrorContains(t, write(brokenPipe{}), "broken pipe")
		}
	}
}

func TestNoComparisonBreaksARenderer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := reports.Compare(drawReport(t), drawReport(t))
		harmless(t, func(w io.Writer, _ checker.Report) error { return reports.ComparisonText(w, c, reports.Style{}) }, checker.Report{})
		require.True(t, json.Valid(harmless(t, func(w io.Writer, _ checker.Report) error { return reports.ComparisonJSON(w, c) }, checker.Report{})))
	})
}

func TestARunComparedWithItselfIsNotWorse(t *testing.T) {
	t.Parallel()
	for name, r := range fixtures() {
		c := reports.Compare(r, r)
		require.NotEqual(t, reports.Worse, c.Outcome, name)
		require.Empty(t, c.Scenarios, name)
	}
}

func TestFormatListsEveryMemberOfAComparison(t *testing.T) {
	t.Parallel()
	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(format), "## Comparison")
	require.True(t, found)
	for _, v := range []any{reports.Comparison{}, reports.Side{}, reports.Change{}, reports.Rate{}, reports.VerdictChange{}} {
		for i := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			require.Contains(t, section, "`"+name+"`", "%T", v)
		}
	}
}

func TestAKnownFindingIsComparedLikeOthers(t *testing.T) {
	t.Parallel()
	fixed := mended()
	fixed.Results[0].Scenario = "burst-same-key"
	for _, c := range []struct {
		name     string
		old, new checker.Report
		trend    reports.Trend
		outcome  reports.Outcome
		turned   int
	}{
		{"it is still there", allKnown(), allKnown(), reports.Unchanged, reports.NotWorse, 0},
		{"it is mended", allKnown(), fixed, reports.Gone, reports.NotWorse, 1},
		{"it is back", fixed, allKnown(), reports.Appeared, reports.Worse, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := reports.Compare(c.old, c.new)
			require.Equal(t, c.outcome, got.Outcome)
			require.Equal(t, 2, got.Judged)
			require.Len(t, got.Findings, 1)
			require.Equal(t, c.trend, got.Findings[0].Trend)
			require.Equal(t, c.turned, len(slices.DeleteFunc(got.Scenarios, func(t reports.VerdictChange) bool { return t.Old == nil || t.New == nil })))
		})
	}
}
