package main

import (
	"errors"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
)

// newDiff returns the command that compares two runs.
func newDiff(s streams) *cobra.Command {
	asJSON, inconclusive, runs := false, "", ""
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what a run broke and what it fixed, compared with an older one",
		Long: `Diff judges two runs' directories as check does and says which broken promises are new, which are
still there and how often, and which are gone. A broken promise is the same in both runs if scenario,
kind and detail are the same. Its rate changed by more than chance if Fisher's exact test, two-sided and
adjusted by Holm's method for all that is compared, gives p under 0.05; beside every rate stands its
95% score interval (Wilson).

Exit codes, for a gate that holds a release against a baseline: 1 if something new broke, however
rarely, or something breaks more often than by chance; 2 if a scenario came to no judgement where the
old run had one, or no scenario was judged in both; 3 if a directory is none of a run; 0 otherwise,
also where old findings are still there.`,
		Example: `  doubletap diff reports/runs/20260102-150405-abcd reports/runs/20260109-150405-efgh
  doubletap diff --json baseline last`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeRun,
		RunE: func(_ *cobra.Command, args []string) error {
			older, unfound := rundir.FindRun(args[0], runs)
			newer, err := rundir.FindRun(args[1], runs)
			if err := errors.Join(unfound, err); err != nil {
				return err
			}
			return diffCommand(older, newer, asJSON, inconclusive, s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, for programs")
	inconclusiveFlag(cmd, &inconclusive)
	runsFlag(cmd, &runs)
	return cmd
}

// diffCommand judges both runs by the rules of this version before it compares them. Reports as
// they were written would differ where only the rules have changed.
func diffCommand(older, newer rundir.Dir, asJSON bool, inconclusive string, s streams) error {
	if err := checkInconclusive(inconclusive); err != nil {
		return err
	}
	reportBefore, before, errBefore := older.Rejudge(nil)
	reportAfter, after, errAfter := newer.Rejudge(nil)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return err
	}
	c := reports.Compare(*reportBefore, *reportAfter)
	c.Terms = !reflect.DeepEqual(before.Terms, after.Terms)
	if err := showComparison(c, asJSON, s); err != nil {
		return runerror.Environment(err)
	}
	switch {
	case c.Outcome == reports.Worse:
		return exit{code: exitFinding}
	case c.Outcome == reports.NotCompared && inconclusive == "fail":
		return exit{code: exitInconclusive}
	default:
		return nil
	}
}

// showComparison prints JSON as it is, and text through the guarded stream.
func showComparison(c reports.Comparison, asJSON bool, s streams) error {
	if asJSON {
		return reports.ComparisonJSON(s.bytes, c)
	}
	return reports.ComparisonText(s.out, c, styleOf(s))
}
