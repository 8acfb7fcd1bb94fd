package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func newReplay(s streams) *cobra.Command {
	o := runOptions{}
	times := 1
	cmd := &cobra.Command{
		Use:   "replay FINDING",
		Short: "Send the plan of a finding again, only the intents that broke",
		Long: `Replay takes the directory of a finding, sends the same plan with the same seed again for the
intents that broke, and says whether the same promise broke again: exit 1 if it did at least once,
0 if it did not, 2 if the scenario could not be exercised. With --target it asks the same of another
target, such as a mended one.`,
		Example: `  doubletap replay reports/runs/20260102-150405-abcd/findings/F1 --times 20
  doubletap replay reports/runs/20260102-150405-abcd/findings/F1 --target builtin:unique-key`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return replayCommand(cmd.Context(), args[0], times, o, s)
		},
	}
	o.flags(cmd)
	cmd.Flags().IntVar(&times, "times", times, "how often to send it; more than once prints a line for each try")
	return cmd
}

func replayCommand(ctx context.Context, dir string, times int, o runOptions, s streams) error {
	if times < 1 {
		return mistakef("--times is %d, expected 1 or more", times)
	}
	f, err := readFinding(dir)
	if err != nil {
		return err
	}
	files, err := findScenario(filepath.Join(dir, scenarioName), nil)
	if err != nil {
		return mistake(err)
	}
	t := tally{kind: f.Finding.Kind, of: times}
	failure := t.repeat(ctx, files, f.options(o, dir), s)
	if t.tries() > 0 {
		fmt.Fprintf(s.out, "\n%s\n", t)
	}
	if code, interrupted := interruption(ctx); interrupted {
		return exit{code: code, cause: failure}
	}
	if failure != nil && t.reproduced == 0 {
		return failure
	}
	complain(s.err, failure)
	return t.exit()
}

// tally counts the tries of a replay.
type tally struct {
	kind                           checker.Kind
	of                             int
	reproduced, clean, unexercised int
}

func (t *tally) tries() int { return t.reproduced + t.clean + t.unexercised }

// repeat sends the plan again and again, until something fails.
func (t *tally) repeat(ctx context.Context, files []scenarios.File, o runOptions, s streams) error {
	quiet := s
	if t.of > 1 {
		quiet.out = io.Discard
	}
	for t.tries() < t.of {
		report, err := perform(ctx, files, o, quiet)
		if report == nil || ctx.Err() != nil {
			return err
		}
		what := t.add(report.Results[0])
		if t.of > 1 {
			fmt.Fprintf(s.out, "try %d of %d: %-18s %s\n", t.tries(), t.of, what, report.Dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add counts a try and says what it showed.
func (t *tally) add(r checker.Result) string {
	switch {
	case slices.ContainsFunc(r.Findings, func(f checker.Finding) bool { return f.Kind == t.kind }):
		t.reproduced++
		return "reproduced"
	case r.Verdict == checker.Pass:
		t.clean++
		return "not reproduced"
	case r.Verdict == checker.Fail:
		t.clean++
		return "something else: " + string(r.Findings[0].Kind)
	default:
		t.unexercised++
		return r.Verdict.String()
	}
}

// String sums the tries up.
func (t tally) String() string {
	all := plural(t.tries(), "try", "tries")
	switch {
	case t.reproduced > 0:
		return fmt.Sprintf("reproduced: %s in %d of %s", t.kind, t.reproduced, all)
	case t.clean == 0:
		return fmt.Sprintf("could not be exercised in %s", all)
	default:
		return fmt.Sprintf("not reproduced: no %s in %d exercised of %s", t.kind, t.clean, all)
	}
}

func (t tally) exit() error {
	switch {
	case t.reproduced > 0:
		return exit{code: exitFinding}
	case t.clean == 0:
		return exit{code: exitInconclusive}
	default:
		return nil
	}
}
