package reports_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

// played is what one seed made of a target: verdicts by scenario, and the kinds of findings.
func played(verdicts map[string]checker.Verdict, kinds ...checker.Kind) (results []checker.Result) {
	for _, name := range []string{"burst", "replay", "tabs"} {
		result := checker.Result{Scenario: name, Verdict: verdicts[name], Elapsed: history.Offset(400e6)}
		if result.Verdict == checker.Fail {
			for _, k := range kinds {
				result.Findings = append(result.Findings, checker.Finding{Kind: k})
			}
		}
		results = append(results, result)
	}
	return results
}

func confusion() reports.Matrix {
	m := reports.Matrix{Tool: "doubletap v1", Started: "2026-01-02T03:04:05Z", Cores: 2, Seeds: 2, Scenarios: []string{"burst", "replay", "tabs"}}
	broken := reports.MatrixRow{Target: "racy", Store: "sqlite", Truth: checker.Truth{Shows: []checker.Kind{checker.Duplicate}, By: []string{"burst", "replay"}}}
	broken.Add(1, played(map[string]checker.Verdict{"burst": checker.Fail, "replay": checker.Pass, "tabs": checker.NotApplicable}, checker.Duplicate))
	broken.Add(2, played(map[string]checker.Verdict{"burst": checker.Fail, "replay": checker.Fail, "tabs": checker.NotApplicable}, checker.Duplicate))
	other := reports.MatrixRow{Target: "odd", Truth: checker.Truth{Shows: []checker.Kind{checker.Leak}}}
	other.Add(1, played(map[string]checker.Verdict{"burst": checker.Fail, "tabs": checker.Pass}, checker.Duplicate))
	other.Add(2, played(map[string]checker.Verdict{"burst": checker.Fail, "tabs": checker.Pass}, checker.Duplicate))
	correct := reports.MatrixRow{Target: "sound <&>", Store: "postgres", Truth: checker.Truth{Correct: true}}
	correct.Add(1, played(map[string]checker.Verdict{"burst": checker.Pass, "replay": checker.Pass, "tabs": checker.Pass}))
	correct.Add(2, played(map[string]checker.Verdict{"burst": checker.Pass, "replay": checker.Fail, "tabs": checker.Broken}, checker.Leak))
	m.Rows = []reports.MatrixRow{correct, broken, other}
	return m
}

func TestAMatrixAsItIsShown(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer, reports.Matrix) error{
		"matrix.txt": reports.MatrixText, "matrix.md": reports.MatrixMarkdown, "matrix.html": reports.MatrixHTML, "matrix.json": reports.MatrixJSON,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, write(&out, confusion()))
			compare(t, name, out.Bytes())
			require.Error(t, write(brokenPipe{}, confusion()))
		})
	}
}

func TestOnlyWhatWasPlayedIsRight(t *testing.T) {
	t.Parallel()
	row := func(correct bool, seeds ...uint64) reports.MatrixRow {
		r := reports.MatrixRow{Target: "one", Truth: checker.Truth{Correct: correct, Shows: []checker.Kind{checker.Duplicate}, By: []string{"burst"}}}
		for _, seed := range seeds {
			verdict := checker.Fail
			if correct {
				verdict = checker.Pass
			}
			r.Add(seed, []checker.Result{{Scenario: "burst", Verdict: verdict, Findings: []checker.Finding{{Kind: checker.Duplicate}}}})
		}
		return r
	}
	all := func(r *reports.MatrixRow, seed uint64) *reports.MatrixRow {
		r.Add(seed, []checker.Result{{Scenario: "tabs", Verdict: checker.NotApplicable}})
		return r
	}
	for name, c := range map[string]struct {
		rows    []reports.MatrixRow
		sparing bool
		right   bool
	}{
		"with one of two scenarios":                 {[]reports.MatrixRow{row(true, 1)}, false, false},
		"the other came later":                      {[]reports.MatrixRow{*all(new(row(true, 1)), 1)}, false, true},
		"a broken one too":                          {[]reports.MatrixRow{row(false, 1)}, true, false},
		"which is spared from the second seed on":   {[]reports.MatrixRow{*all(new(row(false, 1, 2)), 1)}, true, true},
		"and not where nothing is spared":           {[]reports.MatrixRow{*all(new(row(false, 1, 2)), 1)}, false, false},
		"a correct one is never spared":             {[]reports.MatrixRow{*all(new(row(true, 1, 2)), 1)}, true, false},
		"one of two targets lacks a scenario still": {[]reports.MatrixRow{*all(new(row(true, 1)), 1), row(true, 1)}, true, false},
	} {
		m := reports.Matrix{Seeds: len(c.rows[0].Played), Sparing: c.sparing, Scenarios: []string{"burst", "tabs"}, Rows: c.rows}
		require.Equal(t, c.right, m.Right(), name)
	}
}

func TestWhatAScenarioShowedLastCounts(t *testing.T) {
	t.Parallel()
	r := reports.MatrixRow{Target: "one", Truth: checker.Truth{Correct: true}}
	r.Add(1, []checker.Result{{Scenario: "burst"}, {Scenario: "tabs", Verdict: checker.Pass}})
	r.Add(1, []checker.Result{{Scenario: "burst", Verdict: checker.Pass}})
	require.Equal(t, []reports.MatrixSeed{{Seed: 1, Marks: map[string]checker.Mark{"burst": checker.Clean, "tabs": checker.Clean}, Again: 1}}, r.Played)
	var out bytes.Buffer
	require.NoError(t, reports.MatrixText(&out, reports.Matrix{Seeds: 1, Scenarios: []string{"burst", "tabs"}, Rows: []reports.MatrixRow{r}}))
	require.Contains(t, out.String(), "\n1 run of a scenario came after one that had decided nothing, as on a busy machine.\n")
}

func TestAMatrixIsReadBack(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, reports.MatrixJSON(&out, confusion()))
	back, err := reports.ReadMatrix(&out)
	require.NoError(t, err)
	require.Equal(t, confusion(), back)
	_, err = reports.ReadMatrix(&out)
	require.ErrorContains(t, err, "read matrix")
}

func TestAMatrixIsRightIfEveryTargetIs(t *testing.T) {
	t.Parallel()
	m := confusion()
	require.False(t, m.Right())
	m.Rows = m.Rows[1:2]
	require.True(t, m.Right())
}
