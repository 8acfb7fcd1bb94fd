package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
)

// replayOptions are the flags of replay beside those that it shares with run.
type replayOptions struct {
	times     int
	counted   bool // times was given
	byRate    bool // times was chosen by the rate of the finding
	untilFail bool
	longest   time.Duration // 0: as long as it takes
}

// newReplay returns the command that sends the plan of a finding again.
func newReplay(s streams) *cobra.Command {
	o, r := sessionFlags{}, replayOptions{}
	cmd := &cobra.Command{
		Use:   "replay FINDING",
		Short: "Send the plan of a finding again, only the intents that broke",
		Long: `Replay takes a finding, sends the same plan with the same seed again for the
intents that broke, and says whether the same promise broke again: exit 1 if it did at least once,
0 if it did not, 2 if the scenario could not be exercised. With --target it asks the same of another
target, such as a fixed one.

It is sent until it breaks again: 5 to 20 times at most, the more often, the fewer intents broke in the
run. That one run need not be like the next: to find what is rarer, let it go on --until-fail, or --for
a while.`,
		Example: `  doubletap replay last
  doubletap replay reports/runs/20260102-150405-abcd/findings/F1 --times 20
  doubletap replay reports/runs/20260102-150405-abcd/findings/F1 --until-fail --for 10m
  doubletap replay reports/runs/20260102-150405-abcd/findings/F1 --target builtin:unique-key`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeFinding,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.counted = cmd.Flags().Changed("times")
			dir, err := rundir.FindFinding(args[0], o.reports)
			if err != nil {
				return err
			}
			return replayCommand(cmd.Context(), dir, r, o, s)
		},
	}
	o.add(cmd)
	cmd.Flags().IntVar(&r.times, "times", 1, "how often to send it; more than once prints a line for each try (default: until it breaks again, at most as often as its rate asks for)")
	cmd.Flags().BoolVar(&r.untilFail, "until-fail", false, "stop at the first try that reproduces it (at most --times, if given)")
	cmd.Flags().DurationVar(&r.longest, "for", 0, "go on for so long (at most --times, if given)")
	return cmd
}

// How often a finding is sent at most, if nobody says how often. What showed in all rounds of one run may be rarer in the next.
const (
	leastTries = 5
	mostTries  = 20
)

// choose says how often to send a finding, if nobody did: those who hunt go on without a count; others until the finding would have
// shown in 99 of 100 cases, if each try is like a round of the run.
func (r *replayOptions) choose(f rundir.Finding) {
	switch {
	case r.counted:
	case r.untilFail || r.longest > 0:
		r.times = math.MaxInt
	case f.Of > 0:
		r.times = min(mostTries, max(leastTries, rundir.Rounds(f.Shown, f.Of)))
		r.untilFail, r.byRate = true, true
	}
}

// words are the flags that were given.
func (r replayOptions) words() (words []string) {
	if r.counted {
		words = append(words, "--times", fmt.Sprint(r.times))
	}
	if r.untilFail {
		words = append(words, "--until-fail")
	}
	if r.longest > 0 {
		words = append(words, "--for", r.longest.String())
	}
	return words
}

// check says what is wrong with the flags; nil: nothing.
func (r replayOptions) check() error {
	switch {
	case r.times < 1:
		return runerror.Configf("--times is %d, expected 1 or more", r.times)
	case r.longest < 0:
		return runerror.Configf("--for is %s, expected more than 0s", r.longest)
	default:
		return nil
	}
}

// replayCommand sends a finding's plan as often as it was asked for, and sums up. A finding that
// showed in some try is reported even if a later one failed.
func replayCommand(ctx context.Context, dir string, r replayOptions, o sessionFlags, s streams) error {
	if err := r.check(); err != nil {
		return err
	}
	f, files, err := engine.OpenFinding(dir)
	if err != nil {
		return err
	}
	tries := r.words()
	r.choose(f)
	c, err := o.config(files, s)
	if err != nil {
		return err
	}
	if o.dryRun {
		_, err := perform(ctx, c.Resend(f, dir), s)
		return err
	}
	again := rerun{sessionFlags: o, finding: dir, tries: tries}
	c.Commands = func(dir string, _ uint64) rundir.Commands { return again.commands(dir) }
	t := tally{finding: f, replayOptions: r}
	failure := t.repeat(ctx, c.Resend(f, dir), s)
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
	replayOptions
	finding                        rundir.Finding
	reproduced, clean, unexercised int
}

// tries is how often it was sent, whatever came of it.
func (t *tally) tries() int { return t.reproduced + t.clean + t.unexercised }

// over reports that there is to be no further try.
func (t *tally) over(begun time.Time) bool {
	return t.tries() >= t.times || t.untilFail && t.reproduced > 0 || t.longest > 0 && time.Since(begun) >= t.longest
}

// repeat sends the plan again and again, until something fails. A single try is shown whole, and of tries that nobody asked for
// the first; others have a line each.
func (t *tally) repeat(ctx context.Context, c engine.Config, s streams) error {
	for begun := time.Now(); !t.over(begun); {
		whole, shown := t.times == 1 || t.byRate && t.tries() == 0, s
		if !whole {
			shown.out = io.Discard
		}
		report, err := perform(ctx, c, shown)
		if report == nil || ctx.Err() != nil {
			return err
		}
		what := t.add(report.Results[0])
		if !whole {
			fmt.Fprintf(s.out, "try %s: %-18s %s\n", t.number(), what, report.Dir)
		}
		if err != nil || report.Results[0].Verdict == checker.NotApplicable { // nor will it apply the next time
			return err
		}
	}
	return nil
}

// number is that of the last try.
func (t *tally) number() string {
	if t.times == math.MaxInt {
		return fmt.Sprint(t.tries())
	}
	return fmt.Sprintf("%d of %d", t.tries(), t.times)
}

// add counts a try and says what it showed.
func (t *tally) add(r checker.Result) string {
	switch {
	case slices.ContainsFunc(r.Findings, t.finding.Alike):
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
	all, exercised := english.Plural(t.tries(), "try", "tries"), t.reproduced+t.clean
	switch {
	case t.reproduced > 0:
		of := all
		if exercised < t.tries() { // the rate is one of what was exercised
			of = fmt.Sprintf("%d exercised (%s)", exercised, all)
		}
		return fmt.Sprintf("reproduced: %s in %d of %s%s", t.finding.Finding.Kind, t.reproduced, of, rate(t.reproduced, exercised))
	case t.clean == 0:
		return fmt.Sprintf("could not be exercised in %s", all)
	default:
		return fmt.Sprintf("not reproduced: no %s in %d exercised of %s%s", t.finding.Finding.Kind, t.clean, all, rate(0, exercised))
	}
}

// rate says what k of n tries tell of a rate with 95 % confidence; nothing, where they tell nothing.
func rate(k, n int) string {
	low, high := reports.Wilson(k, n)
	switch {
	case n < 2:
		return ""
	case k == 0:
		return fmt.Sprintf(": at 95%% confidence less than %.3g%% of tries", 100*min(1, 3/float64(n)))
	default:
		return fmt.Sprintf(" (%.0f%%, at 95%% confidence %.0f%% to %.0f%%)", 100*float64(k)/float64(n), 100*low, 100*high)
	}
}

// exit is 1 where it broke again at least once, and 2 where not one try was exercised. A try that
// broke otherwise counts as clean: it is another finding.
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
