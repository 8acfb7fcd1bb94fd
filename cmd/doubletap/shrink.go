package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/shrink"
)

// shrunkMark begins the file that shrink writes.
const shrunkMark = "# Shrunk by doubletap:"

// newShrink returns the command that finds the smallest scenario of a finding.
func newShrink(s streams) *cobra.Command {
	o, budget, out, force := sessionFlags{}, shrink.DefaultBudget, "", false
	cmd := &cobra.Command{
		Use:   "shrink FINDING",
		Short: "Find the smallest scenario that still shows a finding",
		Long: `Shrink takes a finding and leaves one thing after the other out of its scenario:
intents, steps, copies, tabs, faults, retries, numbers. If it breaks as often without a thing, the thing stays
out; if not, it goes back in. Races depend on chance, so each time it plays as many rounds as it needs
to know, with errors of 5 % each, whether the rate is still at least 80 % of what it was or at most half of
that (Wald's sequential test). In the end it plays what is left in separate runs, with as many rounds as it
takes to show in each of them. The result is a scenario file that says in how many runs it was seen. Ctrl-C keeps
the best so far.

Exit codes: 0 it was shrunk; 2 it did not break again, so nothing could be left out.`,
		Example: `  doubletap shrink last
  doubletap shrink reports/runs/20260102-150405-abcd/findings/F1`,
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: completeFinding,
		RunE: func(cmd *cobra.Command, args []string) error {
			if budget <= 0 {
				return runerror.Configf("--budget is %s, expected more than 0s", budget)
			}
			dir, err := rundir.FindFinding(args[0], o.reports)
			if err != nil {
				return err
			}
			return shrinkCommand(cmd.Context(), dir, budget, files.Output{Path: out, Mark: shrunkMark, Force: force}, o, s)
		},
	}
	o.add(cmd)
	cmd.Flags().DurationVar(&budget, "budget", shrink.DefaultBudget, "how long to leave things out; the separate runs of what is left may take half as long again")
	cmd.Flags().StringVarP(&out, "output", "o", "", "file for the scenario (default: "+shrink.FileName+" beside the finding)")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	return cmd
}

// shrinkCommand shrinks a finding and writes what is left. The best so far is written even if it
// was interrupted or failed later: each step of it was tried.
func shrinkCommand(ctx context.Context, dir string, budget time.Duration, out files.Output, flags sessionFlags, s streams) error {
	f, played, err := engine.OpenFinding(dir)
	if err != nil {
		return err
	}
	c, err := flags.config(played, s)
	if err != nil {
		return err
	}
	c = c.Resend(f, dir)
	if flags.dryRun {
		_, err := perform(ctx, c, s)
		return err
	}
	flags.target, flags.instances, flags.toxiproxy = c.SUT.Target, c.SUT.Instances, c.SUT.Toxiproxy
	if flags.operation, err = resentOperation(ctx, c.SUT); err != nil {
		return err
	}
	if out.Path == "" {
		out.Path = filepath.Join(dir, shrink.FileName)
	}
	if err := out.Check(); err != nil {
		return runerror.Configf("--output: %w", err)
	}
	r, failure := shrink.Run(ctx, shrink.Options{
		Config: c, Finding: f, Budget: budget,
		Began: func(k, n int) {
			fmt.Fprintf(s.out, "%s in %d of %s of %s\n\n", f.Finding.Kind, k, english.Plural(n, "round"), f.Scenario)
		},
		Tried: func(t shrink.Trial) { showTrial(t, s) },
	})
	if errors.Is(failure, shrink.ErrNotReproduced) {
		return showNotReproduced(ctx, f, r, s)
	}
	if r.FirstK == 0 { // it failed before there was a best
		return failure
	}
	if err := writeShrunk(dir, f, r, out, flags, s); err != nil {
		return errors.Join(err, failure)
	}
	if code, interrupted := interruption(ctx); interrupted {
		return exit{code: code, cause: failure}
	}
	return failure
}

// showTrial prints a line for each thing that was left out for a trial.
func showTrial(t shrink.Trial, s streams) {
	why := ""
	if t.Why != "" {
		why = ": " + t.Why
	}
	fmt.Fprintf(s.out, "  %-9s %3d of %-3d without %s%s\n", t.Outcome, t.K, t.N, t.Without, why)
}

// showNotReproduced says that there is nothing to shrink. Nothing was learnt of the target, so the
// exit code is that of inconclusive.
func showNotReproduced(ctx context.Context, f rundir.Finding, r shrink.Result, s streams) error {
	_, interrupted := interruption(ctx)
	switch {
	case r.FirstN == 0 && interrupted:
		fmt.Fprintln(s.out, "interrupted before the first rounds were played")
	case r.FirstN == 0:
		fmt.Fprintln(s.out, "not reproduced: the time was over before the first rounds were played")
	default:
		fmt.Fprintf(s.out, "not reproduced: no %s in %s; nothing can be left out\n", f.Finding.Kind, english.Plural(r.FirstN, "round"))
	}
	return exit{code: exitInconclusive}
}

// writeShrunk writes what is left as a scenario file and says what became of it.
func writeShrunk(dir string, f rundir.Finding, r shrink.Result, out files.Output, flags sessionFlags, s streams) error {
	source, err := r.Source(f.Finding.Kind)
	if err != nil {
		return runerror.Environment(err)
	}
	minimal := "Nothing more can be left out: without any one thing it does not break as often."
	if r.Whole {
		minimal = "Nothing can be left out: with fewer intents, or without one thing, it does not break at a target that has just started."
	}
	if r.Unknown > 0 {
		minimal = fmt.Sprintf("%s could not be tried to the end.", english.Plural(r.Unknown, "thing"))
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, shrunkMark+" %s %s.\n# %s\n", f.Finding.Kind, seenIn(r), minimal)
	text.Write(source)
	if err := out.Write(func(w io.Writer) error { _, err := text.WriteTo(w); return err }); err != nil {
		return runerror.Environment(fmt.Errorf("write the shrunk scenario: %w", err))
	}
	requests := func(s scenarios.Scenario) string {
		return english.Plural(scenarios.NewPlan(s, 1).Requests(), "request")
	}
	left := fmt.Sprintf("%s and %s", requests(r.Best), english.Plural(faults(r.Best), "fault"))
	if err := rundir.WriteShrunk(dir, f, checker.Shrunk{File: out.Path, Left: left, Seen: seenIn(r)}); err != nil {
		return err
	}
	if from := fmt.Sprintf("%s and %s", requests(r.From), english.Plural(faults(r.From), "fault")); from != left {
		left += " instead of " + from
	} else {
		left += ", as before"
	}
	fmt.Fprintf(s.out, "\n%s\n%s, after %s in %s\n  seen   %s\n  file   %s\n  again  %s\n",
		source, left, english.Plural(r.Trials, "trial"), r.Took.Round(100*time.Millisecond), seenIn(r), out.Path, flags.plain(out.Path))
	if r.Unknown > 0 {
		fmt.Fprintf(s.out, "  open   %s could not be tried to the end\n", english.Plural(r.Unknown, "thing"))
	}
	return nil
}

// fewRuns is a number of runs that says little.
const fewRuns = 3

// seenIn says how often what is left was seen: in how many runs, as rounds of one run are not independent.
func seenIn(r shrink.Result) string {
	seen := r.Seen
	if seen.Runs == 0 {
		return fmt.Sprintf("in %d of %s of one run, before anything was left out; the time did not allow a run of what is left", r.FirstK, english.Plural(r.FirstN, "round"))
	}
	text := fmt.Sprintf("in %d of %s of %s%s", seen.Shown, english.Plural(seen.Runs, "separate run"), english.Plural(seen.Rounds, "round"), rate(seen.Shown, seen.Runs))
	switch {
	case seen.Runs < fewRuns:
		text += ", too few to say how often it shows"
	case seen.Shown < seen.Runs:
		text += ", so that one run without it says little"
	}
	return text
}

// faults counts the faults of all lanes.
func faults(s scenarios.Scenario) int {
	n := 0
	for _, lane := range s.Lanes {
		n += len(lane)
	}
	return n
}
