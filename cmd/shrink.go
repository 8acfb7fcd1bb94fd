package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// What shrinking takes.
const (
	usualBudget = 2 * time.Minute
	firstRounds = 20  // that tell the rate to be kept
	batchRounds = 6   // of a trial at once
	mostRounds  = 120 // of a trial; what is not known by then is not left out
	shrunkName  = "shrunk.yaml"
)

func newShrink(s streams) *cobra.Command {
	o, budget, out := runOptions{}, usualBudget, ""
	cmd := &cobra.Command{
		Use:   "shrink FINDING",
		Short: "Leave out of a finding's scenario whatever it does not take",
		Long: `Shrink takes the directory of a finding and leaves one thing after the other out of its scenario:
intents, steps, copies, tabs, faults, retries, figures. If it breaks as often without a thing, the thing stays
out; if not, it goes back in. Races are a matter of luck, so each time it plays as many rounds as it needs
to know, with errors of 5 % each, whether the rate is still at least 80 % of what it was or at most half of
that (Wald's sequential test). The result is a scenario file with the rate written in it. Ctrl-C keeps the best so far.

Exit codes: 0 it was shrunk; 2 it did not break again, so nothing could be left out.`,
		Example: "  doubletap shrink reports/runs/20260102-150405-abcd/findings/F1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if budget <= 0 {
				return mistakef("--budget is %s, expected more than 0s", budget)
			}
			return shrinkCommand(cmd.Context(), args[0], budget, out, o, s)
		},
	}
	o.flags(cmd)
	cmd.Flags().DurationVar(&budget, "budget", usualBudget, "how long to go on")
	cmd.Flags().StringVarP(&out, "output", "o", "", "file for the scenario (default: "+shrunkName+" beside the finding)")
	return cmd
}

func shrinkCommand(ctx context.Context, dir string, budget time.Duration, out string, o runOptions, s streams) (err error) {
	f, files, err := openFinding(dir)
	if err != nil {
		return err
	}
	o = f.options(o, dir)
	sub, err := openSubject(ctx, files, o, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	if out == "" {
		out = filepath.Join(dir, shrunkName)
	}
	k := &shrinker{subject: sub, finding: f.Finding, options: o, streams: s, began: time.Now(), budget: budget, failures: map[string]int{}}
	if err := k.open(ctx, files[0].Scenario); err != nil {
		return err
	}
	return k.shrink(ctx, f.narrowed(files[0].Scenario), out)
}

// narrowed is the scenario of a finding with one family of intents, and a sweep, or the break of a link, that
// stands where it broke.
func (f findingFile) narrowed(s scenarios.Scenario) scenarios.Scenario {
	s.Intents = s.Family()
	s.Steps = slices.Clone(s.Steps)
	for i, step := range s.Steps {
		for _, a := range f.Finding.Attempts {
			if step.Sweep != nil && a.Step == i && a.After > 0 && a.Intent == f.Finding.Intent {
				there := *step.Sweep
				there.From = scenarios.Span{Fixed: a.After.Duration().Round(100 * time.Microsecond)}
				there.To = there.From
				s.Steps[i].Sweep = &there
			}
			if step.Send != nil && step.Send.Cut != nil && a.Step == i && a.Cut != nil && a.Intent == f.Finding.Intent {
				send, cut := *step.Send, *step.Send.Cut
				cut.Moment = scenarios.Moment(a.Cut.Moment)
				send.Cut = &cut
				s.Steps[i].Send = &send
			}
		}
	}
	return s
}

// shrinker looks for the least that a finding takes.
type shrinker struct {
	subject  *subject
	finding  checker.Finding
	options  runOptions
	streams  streams
	stage    *stage
	began    time.Time
	budget   time.Duration
	failures map[string]int // how often something could not be left out
	trials   int
	rounds   int
}

// open prepares target, database and directory, and measures what a create takes.
func (k *shrinker) open(ctx context.Context, s scenarios.Scenario) error {
	if err := k.subject.allow(k.options.toxiproxy); err != nil {
		return err
	}
	id := newRunID(k.began)
	dir, err := createRunDir(k.options.reports, id+"-shrink")
	if err == nil {
		err = k.subject.openLinks(ctx, k.options.toxiproxy)
	}
	if err == nil {
		err = k.subject.start(ctx, dir, k.streams)
	}
	if err == nil {
		err = k.subject.connect(ctx, func(need scenarios.Need) bool { return slices.Contains(s.Needs, need) })
	}
	if err != nil {
		return err
	}
	k.stage = &stage{
		subject: k.subject, run: id, seed: k.options.seed, dir: dir, toxiproxy: k.options.toxiproxy,
		progress: func(int, int) {}, silence: silence, uncalibrated: true, pace: driver.NewPace(k.subject.target.RateLimit),
	}
	if s.Neighbours != nil && s.Neighbours.Across != scenarios.AcrossNothing {
		k.stage.across = []scenarios.Across{s.Neighbours.Across}
	}
	return k.stage.pilot(ctx, k.options.pilotTimeout)
}

// shrink leaves out what can be left out, and writes what is left.
func (k *shrinker) shrink(ctx context.Context, s scenarios.Scenario, out string) error {
	budget, cancel := context.WithCancel(ctx) // a deadline would make the pace give up before it
	defer cancel()
	defer time.AfterFunc(k.budget, cancel).Stop()
	first := sequential{}
	if err := k.play(budget, s, firstRounds, &first); err != nil {
		return err
	}
	if first.n == 0 {
		fmt.Fprintf(k.streams.out, "not reproduced: the time was over before %s were played\n", plural(firstRounds, "round"))
		return exit{code: exitInconclusive}
	}
	if first.k == 0 {
		fmt.Fprintf(k.streams.out, "not reproduced: no %s in %s; there is nothing to go by\n", k.finding.Kind, plural(first.n, "round"))
		return exit{code: exitInconclusive}
	}
	fmt.Fprintf(k.streams.out, "%s in %d of %s of %s\n\n", k.finding.Kind, first.k, plural(first.n, "round"), s.Name)
	best, left, failure := k.minimise(budget, s, float64(first.k)/float64(first.n))
	last := sequential{}
	failure = errors.Join(failure, k.play(ctx, best, firstRounds, &last))
	if last.k == 0 && ctx.Err() == nil && failure == nil {
		failure = surroundings(errors.New("what was left did not break again in the end: the rate is too low to shrink by"))
	}
	if err := k.write(s, best, last, left, out); err != nil {
		return errors.Join(err, failure)
	}
	if code, interrupted := interruption(ctx); interrupted {
		return exit{code: code, cause: failure}
	}
	return failure
}

// minimise leaves out one thing after the other until nothing can be left out, or the time is over. It
// returns what is left, and of how many things it is not known whether they could be left out.
func (k *shrinker) minimise(ctx context.Context, best scenarios.Scenario, rate float64) (scenarios.Scenario, int, error) {
again:
	for {
		candidates := scenarios.Simpler(best)
		// What was needed before is probably still needed.
		slices.SortStableFunc(candidates, func(a, b scenarios.Simplification) int { return k.failures[a.Without] - k.failures[b.Without] })
		unknown := len(candidates)
		for _, c := range candidates {
			if ctx.Err() != nil {
				return best, unknown, nil
			}
			became, err := k.try(ctx, c, rate)
			switch {
			case err != nil:
				return best, unknown, err
			case became == leftOut:
				best = c.Scenario
				continue again
			case became == needed:
				k.failures[c.Without]++
				unknown--
			}
		}
		return best, unknown, nil
	}
}

// leaving is what became of leaving one thing out.
type leaving string

const (
	undecided leaving = "undecided"
	leftOut   leaving = "left out"
	needed    leaving = "needed"
)

// try plays a scenario until it is known whether it breaks often enough.
func (k *shrinker) try(ctx context.Context, c scenarios.Simplification, rate float64) (leaving, error) {
	k.trials++
	test, became := keeps(rate), undecided
	for became == undecided && ctx.Err() == nil {
		err := k.play(ctx, c.Scenario, batchRounds, &test)
		if why := new(unplayed); errors.As(err, why) {
			k.tell(c, test, undecided, ": "+why.Error())
			return undecided, nil
		}
		if err != nil {
			return undecided, err
		}
		switch good, done := test.decided(); {
		case good && done:
			became = leftOut
		case done || test.n >= mostRounds:
			became = needed
		}
	}
	k.tell(c, test, became, "")
	return became, nil
}

func (k *shrinker) tell(c scenarios.Simplification, test sequential, became leaving, why string) {
	fmt.Fprintf(k.streams.out, "  %-9s %3d of %-3d without %s%s\n", became, test.k, test.n, c.Without, why)
}

// unplayed is why rounds could not be played as they were planned.
type unplayed struct{ why string }

func (u unplayed) Error() string { return "the rounds could not be played: " + u.why }

// hindrance says what kept the rounds of a history from being played and counted; nil: nothing.
func hindrance(h *history.History) error {
	for _, i := range h.Incidents {
		if slices.Contains([]history.IncidentKind{history.HarnessFault, history.TargetGone, history.DatabaseGone}, i.Kind) {
			return surroundings(unplayed{i.Text})
		}
	}
	return nil
}

// play plays so many rounds of a scenario and counts those that break as the finding says. Rounds that the end of
// the time or a hindrance cut short do not count.
func (k *shrinker) play(ctx context.Context, s scenarios.Scenario, rounds int, test *sequential) error {
	family := s.Family()
	s = s.WithIntents(rounds * family)
	s.Name = fmt.Sprintf("%s-%d", s.Name[:min(len(s.Name), 40)], k.rounds)
	k.rounds += rounds
	seed := k.options.seed + uint64(k.rounds)
	source, err := scenarios.Source(s)
	if err != nil {
		return surroundings(err)
	}
	file := scenarios.File{Path: s.Name, Source: source, Scenario: s}
	err = k.stage.play(ctx, file, scenarios.NewPlan(s, seed))
	if ctx.Err() != nil { // what fails then failed because of it
		return nil
	}
	if err != nil {
		return err
	}
	h, err := k.stage.dir.readHistory(s.Name)
	if err == nil {
		err = hindrance(h)
	}
	if err != nil {
		return err
	}
	result := checker.Check(h, k.subject.terms())
	broken := map[int]bool{}
	for _, f := range result.Findings {
		if f.Kind != k.finding.Kind || f.Detail != k.finding.Detail {
			continue
		}
		for _, n := range intentsOf(f, result) {
			broken[(n-1)/family] = true
		}
	}
	test.add(min(len(broken), rounds), rounds)
	return nil
}

// write writes what is left as a scenario file and says what became of it.
func (k *shrinker) write(from, best scenarios.Scenario, last sequential, left int, out string) error {
	named := best
	named.Known = nil // it is to show the bug, not to expect it
	named.Name = best.Name[:min(len(best.Name), 55)] + "-shrunk"
	named.Summary = "The least of " + from.Name + " that it takes: " + string(k.finding.Kind) + "."
	source, err := scenarios.Source(named)
	if err != nil {
		return surroundings(err)
	}
	minimal := "Nothing more can be left out: without any one thing it does not break as often."
	if left > 0 {
		minimal = fmt.Sprintf("%s could not be tried to the end.", plural(left, "thing"))
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Shrunk by doubletap: %s in %d of %s%s.\n# %s\n", k.finding.Kind, last.k, plural(last.n, "round"), rate(last.k, last.n), minimal)
	text.Write(source)
	if err := os.WriteFile(out, text.Bytes(), 0o644); err != nil {
		return surroundings(fmt.Errorf("write the shrunk scenario: %w", err))
	}
	plan := func(s scenarios.Scenario) int { return scenarios.NewPlan(s, 1).Requests() }
	fmt.Fprintf(k.streams.out, "\n%s\n%s and %s instead of %s and %s, after %s in %s\n  file   %s\n  again  %s run %s %s\n",
		source, plural(plan(best), "request"), plural(faults(best), "fault"), plural(plan(from), "request"), plural(faults(from), "fault"),
		plural(k.trials, "trial"), time.Since(k.began).Round(100*time.Millisecond), out, program(), quoted(out), k.options.targetFlags())
	return nil
}

// faults counts the faults of all lanes.
func faults(s scenarios.Scenario) int {
	n := 0
	for _, lane := range s.Lanes {
		n += len(lane)
	}
	return n
}
