package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/rundir"
)

func TestTheVerdictOnARunDecidesItsExitCode(t *testing.T) {
	t.Parallel()
	const (
		pass, known, mended   = checker.Pass, checker.Known, checker.Mended
		unclear, broken, fail = checker.Inconclusive, checker.Broken, checker.Fail
		none                  = checker.NotApplicable
	)
	strict, lax := gate{inconclusive: "fail", fixed: "fail"}, gate{inconclusive: "warn", fixed: "warn"}
	for _, c := range []struct {
		scenarios []checker.Verdict
		want      checker.Verdict
		strict    int
		lax       int
	}{
		{nil, unclear, exitInconclusive, exitPass},
		{[]checker.Verdict{none}, unclear, exitInconclusive, exitPass},
		{[]checker.Verdict{pass, none}, pass, exitPass, exitPass},
		{[]checker.Verdict{known}, pass, exitPass, exitPass},
		{[]checker.Verdict{known, none, pass}, pass, exitPass, exitPass},
		{[]checker.Verdict{pass, mended, known}, mended, exitFixed, exitPass},
		{[]checker.Verdict{mended, unclear}, unclear, exitInconclusive, exitPass},
		{[]checker.Verdict{unclear, broken, mended}, broken, exitEnvironment, exitEnvironment},
		{[]checker.Verdict{fail, broken, unclear, mended, known}, fail, exitFinding, exitFinding},
		{[]checker.Verdict{known, fail}, fail, exitFinding, exitFinding},
	} {
		t.Run(fmt.Sprint(c.scenarios), func(t *testing.T) {
			t.Parallel()
			var r checker.Report
			for _, v := range c.scenarios {
				r.Results = append(r.Results, checker.Result{Verdict: v})
			}
			r.Verdict = rundir.Overall(r.Results)
			require.Equal(t, c.want, r.Verdict)
			require.Equal(t, c.strict, codeOf(strict.exit(r)))
			require.Equal(t, c.lax, codeOf(lax.exit(r)))
		})
	}
	both := checker.Report{Verdict: unclear, Results: []checker.Result{{Verdict: unclear}, {Verdict: mended}}}
	require.Equal(t, exitFixed, codeOf(gate{inconclusive: "warn", fixed: "fail"}.exit(both)), "what is mended still counts")
	require.Equal(t, exitInconclusive, codeOf(strict.exit(checker.Report{})), "the zero value does not pass")
	gone := checker.Report{Verdict: unclear, Results: []checker.Result{{Verdict: unclear, DatabaseGone: true}, {Verdict: unclear}}}
	require.Equal(t, exitEnvironment, codeOf(strict.exit(gone)))
	require.Equal(t, exitEnvironment, codeOf(lax.exit(gone)), "without its database no run is green")
	gone.OwnWord = true
	require.Equal(t, exitInconclusive, codeOf(strict.exit(gone)), "a listing is an answer of the target's")
	gone.Verdict = fail
	require.Equal(t, exitFinding, codeOf(lax.exit(gone)))
}
