// Package shrink looks for the smallest scenario that still shows a finding: it leaves out one
// thing after the other, plays rounds of the rest by package engine, and keeps out whatever the
// finding does not take. A race does not show each time, so a trial takes rounds until it is clear
// whether the finding shows about as often as before.
//
// It is delta debugging (Zeller and Hildebrandt, 2002), one thing at a time, with a statistical test
// in place of a yes or no: scenarios.Simpler lists the candidates, sequential.go decides on each, and separate.go
// plays what is left in runs of its own.
package shrink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/proofs"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// DefaultBudget is how long shrinking goes on where nothing else is said.
const DefaultBudget = 2 * time.Minute

// What shrinking takes.
const (
	firstRounds = 20  // that tell the rate to be kept
	batchRounds = 6   // of a trial at once
	mostRounds  = 120 // of a trial; what is not known by then is not left out
)

// FileName is the file beside a finding that holds its shrunk scenario.
const FileName = "shrunk.yaml"

// ErrNotReproduced says that the finding did not break again, so that there is nothing to go by.
var ErrNotReproduced = errors.New("not reproduced")

// Trial is one thing that was left out, and what became of that.
type Trial struct {
	Without string
	Outcome Outcome
	K, N    int    // rounds that broke, of so many
	Why     string // the rounds could not be played; empty: they were
}

// Outcome is what became of leaving one thing out.
type Outcome string

// The outcomes. The zero value is none.
const (
	Undecided Outcome = "undecided"
	LeftOut   Outcome = "left out"
	Needed    Outcome = "needed"
)

// Result is what was left.
type Result struct {
	From, Best scenarios.Scenario
	FirstK     int // rounds that broke in the beginning, of FirstN
	FirstN     int
	Seen       rundir.Seen // of Best, in runs of its own
	Trials     int
	Whole      bool // Best is From with all its intents, as what an intent left behind was part of it
	Unknown    int  // things of which it is not known whether they can be left out
	Took       time.Duration
}

// Options say what to shrink and for how long.
type Options struct {
	Config  engine.Config // of the run that the finding is of; see [engine.Config.Resend]
	Finding rundir.Finding
	Budget  time.Duration  // 0: DefaultBudget
	Began   func(k, n int) // gets the rate that is to be kept; nil: it is not told
	Tried   func(Trial)    // gets each trial; nil: it is not told
}

// Run shrinks a finding. It goes on until nothing can be left out, the budget is spent, or the context ends; what is best by then
// is the result, also beside an error. A finding that does not break again is [ErrNotReproduced].
func Run(ctx context.Context, o Options) (r Result, err error) {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	k := &shrinker{options: o, began: time.Now(), failures: map[string]int{}}
	k.options.Config.Private = true
	s := k.options.Config.Scenarios[0].Scenario
	k.seed = k.options.Config.Seed
	session, err := engine.Open(ctx, k.options.Config)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, engine.Discard(k.session, err == nil)) }()
	k.session = session
	if why := session.System.LeavesOut(s); why != "" {
		return r, runerror.Configf("%s cannot be played against %s: %s", s.Name, session.System.Name, why)
	}
	return k.shrink(ctx, s)
}

// shrinker looks for the least that a finding takes.
type shrinker struct {
	options  Options
	session  *engine.Session
	seed     uint64
	began    time.Time
	failures map[string]int // how often something could not be left out
	early    bool           // it has to show before the final retry
	proven   bool           // enough of the first rounds had the proofs that the scenario asks for: the finding does not stand in their way
	trials   int
	rounds   int
}

// shrink leaves out what can be left out.
func (k *shrinker) shrink(ctx context.Context, whole scenarios.Scenario) (Result, error) {
	s := k.options.Finding.Narrowed(whole)
	budget, cancel := context.WithCancel(ctx) // a deadline would make the pace give up before it
	defer cancel()
	defer time.AfterFunc(k.options.Budget, cancel).Stop()
	r := Result{From: s, Best: s}
	first, seen, err := k.first(budget, s)
	if first.k == 0 && err == nil && !reflect.DeepEqual(s.Steps, whole.Steps) {
		// It was at the edge of a sweep, so that the same moment may miss it: there are others.
		s.Steps = whole.Steps
		r.From, r.Best = s, s
		first, seen, err = k.first(budget, s)
	}
	r.FirstK, r.FirstN = first.k, first.n
	if err != nil {
		return r, err
	}
	if first.k == 0 {
		return r, ErrNotReproduced
	}
	s = s.Without(seen.unheld)
	r.Best = s
	if k.options.Began != nil {
		k.options.Began(first.k, first.n)
	}
	best, unknown, failure := k.minimise(budget, s, float64(first.k)/float64(first.n))
	if failure == nil {
		rounds := rundir.Rounds(first.k, first.n)
		r.Seen, failure = k.separately(ctx, best, rounds, max(longestRun, rounds))
	}
	if r.Seen.Shown == 0 && ctx.Err() == nil && failure == nil {
		// What came before was part of it, such as a stock that runs out: then the whole scenario is what it takes.
		best, unknown = whole.Without(seen.unheld), 0
		r.Whole, k.early = true, false
		rounds := best.Intents / best.GroupSize()
		r.Seen, failure = k.separately(ctx, best, rounds, rounds)
	}
	if r.Seen.Shown == 0 && ctx.Err() == nil && failure == nil {
		failure = runerror.Environment(errors.New("what was left did not break again in the end: the rate is too low to shrink by"))
	}
	r.Best, r.Unknown, r.Trials = best, unknown, k.trials
	r.Took = time.Since(k.began)
	return r, failure
}

// first plays the rounds that tell the rate to be kept. What shows before the final retry has to go on doing so: what the final
// retry sends is no step of the scenario, so that nobody who has it sees what was sent.
func (k *shrinker) first(ctx context.Context, s scenarios.Scenario) (sequential, played, error) {
	test := sequential{}
	seen, err := k.play(ctx, s, firstRounds, &test)
	k.early, k.proven = 2*seen.early > seen.broken, len(seen.unheld) == 0
	if k.early {
		test.k = seen.early
	}
	return test, seen, err
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
			outcome, err := k.try(ctx, c, rate)
			switch {
			case err != nil:
				return best, unknown, err
			case outcome == LeftOut:
				best = c.Scenario
				continue again
			case outcome == Needed:
				k.failures[c.Without]++
				unknown--
			}
		}
		return best, unknown, nil
	}
}

// try plays a scenario until it is known whether it breaks often enough.
func (k *shrinker) try(ctx context.Context, c scenarios.Simplification, rate float64) (Outcome, error) {
	k.trials++
	test, outcome := keeps(rate), Undecided
	for outcome == Undecided && ctx.Err() == nil {
		_, err := k.play(ctx, c.Scenario, batchRounds, &test)
		if why := new(unplayed); errors.As(err, why) {
			k.tell(c, test, Undecided, why.Error())
			return Undecided, nil
		}
		if err != nil {
			return Undecided, err
		}
		switch good, done := test.decided(); {
		case good && done:
			outcome = LeftOut
		case done || test.n >= mostRounds:
			outcome = Needed
		}
	}
	k.tell(c, test, outcome, "")
	return outcome, nil
}

// tell hands a trial to the caller, who may show it.
func (k *shrinker) tell(c scenarios.Simplification, test sequential, outcome Outcome, why string) {
	if k.options.Tried != nil {
		k.options.Tried(Trial{Without: c.Without, Outcome: outcome, K: test.k, N: test.n, Why: why})
	}
}

// unplayed is why rounds could not be played as they were planned.
type unplayed struct{ why string }

// Error says what kept the rounds from being played.
func (u unplayed) Error() string { return "the rounds could not be played: " + u.why }

// hindrance says what kept the rounds of a history from being played and counted; nil: nothing.
func hindrance(h *history.History) error {
	for _, i := range h.Incidents {
		if slices.Contains([]history.IncidentKind{history.HarnessFault, history.TargetGone, history.DatabaseGone}, i.Kind) {
			return runerror.Environment(unplayed{i.Text})
		}
	}
	return nil
}

// played is what rounds of a scenario showed.
type played struct {
	broken int           // that broke as the finding says
	early  int           // of them, those that did so before the final retry
	unheld []proofs.Name // the scenario asks for these proofs of exercise, and too few rounds had them
}

// play plays so many rounds of a scenario and counts those that break as the finding says. Rounds that the end of
// the time or a hindrance cut short do not count. Rounds that do not exercise what the scenario asks for show nothing: at a mended
// target it could not be passed.
func (k *shrinker) play(ctx context.Context, s scenarios.Scenario, rounds int, test *sequential) (seen played, err error) {
	family := s.GroupSize()
	s = s.WithIntents(rounds * family)
	s.Name = fmt.Sprintf("%s-%d", s.Name[:min(len(s.Name), 40)], k.rounds)
	k.rounds += rounds
	source, err := scenarios.Source(s)
	if err != nil {
		return seen, runerror.Environment(err)
	}
	err = k.session.Play(ctx, scenarios.File{Path: s.Name, Source: source, Scenario: s}, scenarios.NewPlan(s, k.seed+uint64(k.rounds)))
	if ctx.Err() != nil { // what fails then failed because of it
		return seen, nil
	}
	if err != nil {
		return seen, err
	}
	h, err := k.session.History(s.Name)
	if err == nil {
		err = hindrance(h)
	}
	if err != nil {
		return seen, err
	}
	seen = k.seen(h, family)
	seen.unheld = slices.DeleteFunc(seen.unheld, func(name proofs.Name) bool { // others come with the target, not with the scenario
		return !slices.ContainsFunc(s.Exercised, func(p scenarios.Proof) bool { return p.Name == name })
	})
	count := seen.broken
	if k.early {
		count = seen.early
	}
	if k.proven && len(seen.unheld) > 0 {
		count = 0
	}
	test.add(min(count, rounds), rounds)
	return seen, nil
}

// seen counts the rounds that broke as the finding says.
func (k *shrinker) seen(h *history.History, family int) (seen played) {
	result, wanted := checker.Check(h, k.session.System.Terms()), k.options.Finding.Finding
	broken, early := map[int]bool{}, map[int]bool{}
	for _, f := range result.Findings {
		if !wanted.Kind.Covers(f.Kind) || f.Detail != wanted.Detail {
			continue
		}
		for _, n := range rundir.IntentsOf(f, result) {
			broken[(n-1)/family] = true
			if f.Moment == history.T1Name {
				early[(n-1)/family] = true
			}
		}
	}
	for _, e := range result.Exercise {
		if e.Held < e.Needed {
			seen.unheld = append(seen.unheld, proofs.Name(e.Proof))
		}
	}
	seen.broken, seen.early = len(broken), len(early)
	return seen
}

// Source returns the text of the shrunk scenario, with as many rounds as the runs had in which it was seen. Where none was played, they
// are those that the first rounds ask for.
func (r Result) Source(kind checker.Kind) ([]byte, error) {
	named := r.Best
	if !r.Whole {
		named.Intents = cmp.Or(r.Seen.Rounds, rundir.Rounds(r.FirstK, r.FirstN)) * named.GroupSize()
	}
	named.Known = nil // it is to show the bug, not to expect it
	named.Name = r.Best.Name[:min(len(r.Best.Name), 55)] + "-shrunk"
	named.Summary = "The least of " + r.From.Name + " that it takes: " + string(kind) + "."
	return scenarios.Source(named)
}
