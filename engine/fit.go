package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// What a scenario takes, besides what its requests wait for.
const (
	eachScenario   = 250 * time.Millisecond // lanes, snapshots and the final retry
	eachRound      = 30 * time.Millisecond  // that is alone on the machine, as those that race are
	eachBreak      = 200 * time.Millisecond // of a link or a store, with the recovery behind it
	eachHold       = 250 * time.Millisecond // of the writers of a table
	besideOthers   = 2 * time.Second        // of a scenario with background traffic
	fitsWithin     = 0.9                    // of the budget: what scenarios take is estimated
	ofWhatIsCaught = 0.01                   // counts, besides what no scenario before it catches
)

// leftOut is why a scenario is not played that does not fit.
const leftOut = "it was not run: there is no time for it (budget), as others find more in less time"

// errBudget ends a scenario that is still being played when the budget is spent.
var errBudget = errors.New("the time of the run was over (budget)")

// budget is the time of a run. The zero value has no end.
type budget struct {
	end   time.Time // no scenario begins later, and none goes on
	order []int     // in which scenarios are played that are not played beside each other; those that are not in it come last
}

// over reports that the time is spent.
func (b budget) over() bool { return !b.end.IsZero() && !time.Now().Before(b.end) }

// withinBudget is a context for one scenario, which ends with the budget. It has no deadline: the pace would give up before it.
func withinBudget(ctx context.Context, s *Session) (context.Context, context.CancelFunc) {
	if s.budget.end.IsZero() {
		return ctx, func() {}
	}
	within, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(time.Until(s.budget.end), func() { cancel(errBudget) })
	return within, func() { timer.Stop(); cancel(nil) }
}

// fit leaves scenarios out that do not fit into the budget, and has the others played in the order of their worth: what catches most of
// the broken designs that those before it do not catch, for the time that it is to take. Scenarios of the user's own come first.
func fit(s *Session, left time.Duration) {
	var open []int
	need, sum := map[int]time.Duration{}, time.Duration(0)
	_, atOnce := sharing(s)
	for i := range s.plans {
		if len(s.plans[i].Intents) > 0 && notInside(s.passing, s.config.Scenarios[i].Scenario) == "" {
			need[i] = expected(s, i, atOnce)
			sum += need[i]
			open = append(open, i)
		}
	}
	if sum <= left {
		return
	}
	covered := map[string]bool{}
	for len(open) > 0 {
		worth := map[int]float64{}
		for _, i := range open {
			worth[i] = worthOf(s, i, covered) / need[i].Seconds()
		}
		best := slices.MaxFunc(open, func(a, b int) int {
			return cmp.Or(cmp.Compare(worth[a], worth[b]), cmp.Compare(need[b], need[a]), cmp.Compare(b, a))
		})
		open = slices.DeleteFunc(open, func(i int) bool { return i == best })
		if need[best] > left && len(s.budget.order) > 0 { // the first is played in any case, and cut short
			s.note(best, checker.Inconclusive, leftOut)
			s.plans[best].Intents = nil
			continue
		}
		left -= need[best]
		s.budget.order = append(s.budget.order, best)
		for _, design := range diagnosis.CaughtBy(s.config.Scenarios[best].Scenario.Name) {
			covered[design] = true
		}
	}
}

// timeToFit is how long all scenarios of a run with a budget may take, as estimated.
func timeToFit(s *Session) time.Duration {
	return time.Duration(fitsWithin * float64(time.Until(s.budget.end)))
}

// inOrder are the indexes of all scenarios: those first that a budget has in an order, then the others.
func inOrder(s *Session) []int {
	all := slices.Clone(s.budget.order)
	for i := range s.plans {
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	return all
}

// worthOf is what a scenario is worth beside those that were chosen before. The control explains the others' failures.
func worthOf(s *Session, i int, covered map[string]bool) float64 {
	const first, second = 1e9, 1e6
	switch name := s.config.Scenarios[i].Scenario.Name; {
	case name == control:
		return first
	case !BuiltInScenario(name):
		return second
	default:
		fresh, all := 0, diagnosis.CaughtBy(name)
		for _, design := range all {
			if !covered[design] {
				fresh++
			}
		}
		return float64(fresh) + ofWhatIsCaught*float64(len(all))
	}
}

// expected is about how long a scenario keeps the run, where so many are played beside each other that may be.
func expected(s *Session, i, atOnce int) time.Duration {
	one, n := s.config.Scenarios[i].Scenario, rounds(s.plans[i])
	speed := s.slow
	if speed.create == 0 {
		speed = speedOf(s.normal)
	}
	took := eachScenario + takes(speed, one, pauses(s, one), n)
	if !one.Shares() {
		took += time.Duration(n) * eachRound
	}
	took += startsOf(s, one, n)
	if breaks(one) {
		took += time.Duration(n) * eachBreak
	}
	if one.Background != nil {
		took += besideOthers
	}
	if slices.Contains(one.Needs, scenarios.NeedsWriteGate) {
		took += time.Duration(n) * eachHold
	}
	if limit := s.System.Target.RateLimit; limit != nil {
		took = max(took, paced(*limit, s.plans[i].Requests()))
	}
	if atOnce > 1 && shares(s, one) {
		took = max(took/time.Duration(atOnce), pauses(s, one))
	}
	return took
}

// speedOf is the speed of a target that is not slow.
func speedOf(normal time.Duration) speed {
	return speed{create: normal, each: normal / 2, sideBySide: true}
}
