package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// How many scenarios are played beside each other where the config does not say. A target may work on one request at a time: all
// that they send at once are to be done in a time that is short beside what a client waits.
const (
	usualParallel = 3
	doneWithin    = 3 * time.Second
)

// sharing are the scenarios that may be played beside each other, in the order in which
// they begin, and how many at once. There are none where each is to have the target to
// itself. How many follows from what a plain create takes: a target that works on one
// request at a time must get through all that are sent in doneWithin, or clients would
// give up.
func sharing(s *Session) (all []int, atOnce int) {
	if !tellsApart(s) {
		return nil, 0
	}
	sent := 1
	for i, f := range s.config.Scenarios {
		if len(s.plans[i].Intents) > 0 && shares(s, f.Scenario) && leftToControl(s, i) == "" {
			all = append(all, i)
			sent = max(sent, min(f.Scenario.Concurrency, f.Scenario.Intents))
		}
	}
	atOnce = min(usualParallel, int(doneWithin/max(time.Duration(sent)*s.normal, 1)))
	if s.slow.sideBySide {
		atOnce = usualParallel
	}
	atOnce = cmp.Or(s.config.Parallel, atOnce)
	if atOnce < 2 || len(all) < 2 {
		return nil, 0
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(turn(s, a), turn(s, b)) })
	return all, atOnce
}

// turn is when a scenario is to begin, the least first: those that pause soonest, and last those with long work, which may hold a
// lock that all others wait for.
func turn(s *Session, i int) time.Duration {
	one := s.config.Scenarios[i].Scenario
	if len(one.Work) > 0 {
		return time.Duration(slices.Max(one.Work))
	}
	return -one.Pauses(s.System.Target.Contract)
}

// shares reports that others may be played while a scenario is. Work that takes long leaves others alone where requests ask for it,
// and at a target that is not slow anyway.
func shares(s *Session, one scenarios.Scenario) bool {
	return one.Shares() && (len(one.Work) == 0 || s.System.Operation().Work != nil && s.slow.create == 0)
}

// tellsApart reports that what one scenario does is told from what another does meanwhile, and leaves the other alone. It may not
// where rows are counted in total, sinks hear of everything, the target takes only so much, a login ends the one before, or requests are
// about things that were prepared, whose names a target may give again. A run that is to end at the first failure goes one by one.
func tellsApart(s *Session) bool {
	c, t := s.config, s.System.Target
	return c.Parallel != 1 && !c.FailFast && c.Replay.Dir == "" && t.RateLimit == nil && len(t.Sinks) == 0 && len(t.Login) == 0 &&
		!slices.ContainsFunc(slices.Concat(s.System.Operations, s.System.Ways), func(o driver.Operation) bool {
			return len(o.Prepare) > 0 || slices.ContainsFunc(o.Effects, func(e contract.Effect) bool { return e.Delta != nil })
		})
}

// played is what became of a scenario that was played beside others.
type played struct {
	index   int
	session *Session // as the scenario left it
	took    time.Duration
	err     error
	cut     error // why it was cut short; nil: it was not
}

// playBeside plays scenarios beside each other, and returns which have their result, and
// which are to be played again, alone. A pass beside others stands: company makes a target
// no more correct. A failure is played again, so that what it shows is its own.
func playBeside(ctx context.Context, s *Session) (settled, again map[int]bool, err error) {
	settled, again = map[int]bool{}, map[int]bool{}
	queue, atOnce := sharing(s)
	voices := newChorus(s, queue)
	s.config.Observe = voices.voice(-1)
	defer func() { s.config.Observe = voices.tell }()
	over, running := make(chan played), 0
	for {
		for ; running < atOnce && len(queue) > 0 && goesOn(ctx, s) && err == nil; running++ {
			i := queue[0]
			queue = queue[1:]
			s.config.Observe(ScenarioStarted{s.config.Scenarios[i].Scenario.Name})
			// A copy for each: a scenario writes what was lost, and its events, into its
			// session.
			own := *s
			own.beside = true
			own.config.Observe = voices.voice(i)
			go func() {
				within, release := withinBudget(ctx, s)
				defer release()
				began := time.Now()
				err := own.Play(within, s.config.Scenarios[i], s.plans[i])
				over <- played{i, &own, time.Since(began), err, context.Cause(within)}
			}()
		}
		if running == 0 {
			return settled, again, err
		}
		// One at a time comes back here, so s itself is changed by this goroutine only.
		p := <-over
		running--
		s.takeOver(p)
		switch {
		case p.err != nil && p.cut == nil:
			s.note(p.index, checker.Broken, p.err.Error())
			settled[p.index] = true
			err = cmp.Or(err, fmt.Errorf("scenario %s: %w", s.config.Scenarios[p.index].Scenario.Name, p.err))
		case p.err != nil:
			s.note(p.index, checker.Inconclusive, interrupted(p.cut))
			settled[p.index] = true
		case errors.Is(p.cut, errBudget): // there is no time for another look
			settled[p.index] = true
		case stands(s.slow, resultOf(s, p.index)):
			settled[p.index] = true
		default:
			again[p.index] = true
			continue
		}
		s.show(p.index)
	}
}

// stands reports that a result of a scenario that was played beside others needs no second look: it passed, or the target is slow and
// broke only promises of which no load and no neighbour is a cause, as with two rows.
func stands(slow speed, r checker.Result) bool {
	return r.Verdict == checker.Pass || slow.create > 0 && r.Verdict == checker.Fail && !slices.ContainsFunc(r.Findings, func(f checker.Finding) bool {
		return !f.Kind.Row().Lasting
	})
}

// heldUp reports that all that a scenario showed is that requests got no final answer, which others may have kept a target from.
func heldUp(r checker.Result) bool {
	return !slices.ContainsFunc(r.Findings, func(f checker.Finding) bool {
		return !f.Kind.Row().Unresolved && f.Kind != checker.Unanswered
	})
}

// goesOn reports that one more scenario may be begun beside others.
func goesOn(ctx context.Context, s *Session) bool {
	return ctx.Err() == nil && s.lost == "" && s.aftermath.after == "" && !s.budget.over()
}

// takeOver takes over what a scenario that was played beside others has found out about
// the target.
func (s *Session) takeOver(p played) {
	s.took[p.index] = p.took
	s.lost = cmp.Or(s.lost, p.session.lost)
	if p.session.aftermath.after != "" {
		s.aftermath = p.session.aftermath
	}
}

// chorus tells the events of scenarios that are played beside each other, one after the
// other, and their progress as one: an observer need not know that there are several. Safe
// for concurrent use.
type chorus struct {
	lock sync.Mutex
	tell func(Event)
	done map[int]int // intents of a scenario
	of   int
}

// newChorus tells the observer of a session; all are the scenarios that count in progress.
func newChorus(s *Session, all []int) *chorus {
	c := &chorus{tell: s.config.Observe, done: map[int]int{}}
	for _, i := range all {
		c.of += len(s.plans[i].Intents)
	}
	return c
}

// voice tells the events of one scenario.
func (c *chorus) voice(i int) func(Event) {
	return func(e Event) {
		c.lock.Lock()
		defer c.lock.Unlock()
		if p, is := e.(Progress); is {
			c.done[i] = p.Done
			sum := 0
			for _, n := range c.done {
				sum += n
			}
			e = Progress{Done: sum, Of: c.of}
		}
		c.tell(e)
	}
}

// playAlone plays a scenario again that did not pass beside others. What it showed stays if it was a failure that no other scenario
// can be the cause of, whatever it shows now. The other history is kept beside it.
func playAlone(ctx context.Context, s *Session, i int) error {
	defer s.show(i)
	before := resultOf(s, i)
	return playAnew(ctx, s, i, s.plans[i], "-alone", retake{
		keep: func(v checker.Verdict) bool {
			return v == checker.Fail || before.Verdict != checker.Fail && before.Verdict != checker.Known || heldUp(before)
		},
		replaced: s.dir.KeepAside,
		restored: s.dir.Swap,
	})
}
