package driver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/driver/h2"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// intentRunner plays the moves of intents, Plan.Concurrency of them at a time. What it
// learns from one intent (sweeps, how long a create is inside) it uses for the next. Safe
// for concurrent use.
type intentRunner struct {
	*transmitter
	steps   *stepRunner
	sweeps  *sweeps
	release *releaser
	hasty   *releaser        // of bursts that follow each other at once
	prolong sync.Mutex       // held until the request that is to take long is held
	seats   map[string]*seat // in crashes that intents share
}

// newIntentRunner makes the runner of a sender. Its sweeps begin with how long a create is inside the
// target, as far as the pilot has told.
func newIntentRunner(s *Sender) *intentRunner {
	return &intentRunner{
		transmitter: s.line, steps: s.steps, release: &releaser{realTime: s.config.RealTime}, hasty: &releaser{realTime: s.config.RealTime, alone: true},
		sweeps: &sweeps{normal: s.line.requests.inside.now(), offsets: s.config.Repeat.Offsets, phase: s.config.Hooks.Phase},
	}
}

// runIntent plays the moves of one intent, one after the other. It checks before each
// whether to stop, as a move may take as long as a client waits.
func (r *intentRunner) runIntent(ctx context.Context, i scenarios.PlannedIntent) {
	defer r.leaveSeat(i)
	if r.givenUp(false) {
		return
	}
	r.flushBefore(ctx, i)
	begun := time.Now()
	// The flush was before the clock starts (begun): keys expire from the first request
	// on.
	if i.Work > 0 && r.config.Controls.Prolong != nil {
		defer r.prolongFirst(ctx, i)()
	}
	for _, m := range i.Moves {
		if ctx.Err() != nil || r.givenUp(false) {
			return
		}
		switch {
		case m.Wait != nil:
			r.wait(ctx, i, *m.Wait, begun)
		case m.Look:
			r.look(ctx, i)
		case m.Remove:
			r.remove(ctx, i, m.Step)
		case m.Flush:
			r.flush(ctx, i.ID, m.Step)
		default:
			r.runMove(ctx, i, m)
		}
	}
}

// prolongFirst holds what the intent's first request asks the target's database, which is the next that asks so: one
// intent after the other. The function that it returns waits until nothing is left to be held.
func (r *intentRunner) prolongFirst(ctx context.Context, i scenarios.PlannedIntent) (wait func()) {
	r.prolong.Lock()
	held, callOff := r.config.Controls.Prolong(i.Number, r.config.work(i))
	var over sync.WaitGroup
	over.Go(func() {
		defer r.prolong.Unlock()
		defer callOff()
		select {
		case <-held:
		case <-time.After(max(leastProlonging, 10*r.config.Normal)):
		case <-ctx.Done():
		}
	})
	return over.Wait
}

// leastProlonging is how long a request has at least to ask what is to be held. The wait
// has to be bounded: a target that rejects the request never asks its database, and would
// block all other intents.
const leastProlonging = time.Second

// runMove sends a batch and the retries that its answers ask for, and returns when all
// have ended.
//
// The order matters. The barrier is made first, since write gates and crashes hook into
// it; then the requests, which are its members; and a sweep sets its offset before any of
// them arrives, as the barrier sorts its members by it.
func (r *intentRunner) runMove(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move) {
	if !r.paced(ctx, len(m.Batch)) {
		return
	}
	planned := map[string]scenarios.PlannedAttempt{}
	for _, a := range m.Batch {
		planned[a.ID] = a
	}
	// A crash and shares of a create's time need the barrier even for a single request:
	// they count from its release at the upstream tap, not from when the client wrote it.
	var together *barrier
	if m.Together || m.Crash != nil || byTap(m) {
		release := r.release
		if r.config.Lasting && !slices.ContainsFunc(m.Batch, func(a scenarios.PlannedAttempt) bool { return a.Lane != scenarios.Clean }) {
			release = r.hasty
		}
		barrier, stop := newBarrier(ctx, release, len(m.Batch), cmp.Or(r.config.Hold, DefaultHold))
		defer stop()
		together = barrier
	}
	answered := func() {}
	if m.WriteGate {
		answered = r.holdWrites(ctx, i, m, together)
	}
	if m.Crash != nil {
		ended := make(chan struct{})
		answered = sync.OnceFunc(func() { close(ended) })
		r.crash(ctx, i, m, together, ended)
	}
	all := r.load(i, m, together)
	if m.Sweep != nil {
		first, second := all[0], all[1]
		second.member.later = r.sweeps.offset(i, m)
		second.record.After = history.Offset(second.member.later)
		defer func() { r.sweeps.learn(m, r.requests.operationOf(i.ID), first, second) }()
	}
	var retries sync.WaitGroup
	r.batch(ctx, all, func(o *outgoing) {
		if r.config.work(i) == 0 {
			// A request that is made to take long says nothing of how long a plain one
			// takes.
			r.requests.inside.learn(o)
		}
		answered()
		retries.Go(func() {
			if m.Crash != nil {
				<-together.over // until the target is ready again
			}
			r.retry(ctx, i, planned[o.record.ID], o)
		})
	})
	retries.Wait()
}

// load builds the requests of a move. In HTTP/2 those of a burst share connections, as in a browser.
func (r *intentRunner) load(i scenarios.PlannedIntent, m scenarios.Move, together *barrier) []*outgoing {
	var shared *h2.Pool
	if m.Together {
		shared = h2.NewPool()
	}
	all, inside := make([]*outgoing, 0, len(m.Batch)), r.requests.insideOf(i)
	for _, a := range m.Batch {
		o := r.requests.newRequest(i, a, a.ID, a.Key, a.Lane)
		o.record.Step, o.cut = m.Step, a.Cut
		// A client's clock is too coarse for a timeout that short: the tap closes the
		// connection.
		o.impatient = len(m.Batch) == 1 && a.Timeout.Share > 0 && o.timeout < soonest
		if a.Cut != nil {
			o.words = r.config.words(i)
		}
		if together != nil {
			o.member, o.record.Together = together.member(), m.Together
			if m.Together {
				o.shares(shared)
			}
		}
		// With a barrier a member is released that much later; without one it is sent that
		// much later.
		if at := a.At.Of(inside) + a.Plus.Of(inside); together != nil {
			o.member.later = at
		} else {
			o.at = at
		}
		all = append(all, o)
	}
	return all
}

// retry does what a client does that did not get what it wanted: pause and send again, as
// often as the plan allows. After a break of a link it goes on for Config.Recovery: else
// the next break would strike a target that does not ask its database at all, and would
// prove nothing.
func (r *intentRunner) retry(ctx context.Context, i scenarios.PlannedIntent, a scenarios.PlannedAttempt, last *outgoing) {
	begun := time.Now()
	for n, pause := range a.Pauses {
		if last = r.sendAgain(ctx, i, a, n, pause.Of(r.config.normal(i)), last); last == nil {
			return
		}
	}
	if len(a.Pauses) == 0 || !breaksLinks(i) || r.unwell.Load() {
		return
	}
	for n := len(a.Pauses); time.Since(begun) < r.config.Recovery; n++ {
		if last = r.sendAgain(ctx, i, a, n, recoveryPause(time.Since(begun)), last); last == nil {
			return
		}
	}
	// It had its whole time, and still fails. Later intents do not wait for it again: each
	// would wait as long, and learn the same.
	if asksForRetry(a.RetryOn, last.record) {
		r.unwell.Store(true)
	}
}

// recoveryPause is how long a client waits that has been trying for so long: half of that
// again, between 50 ms and 1 s. So the pause grows without being counted.
func recoveryPause(tried time.Duration) time.Duration {
	return min(max(tried/2, 50*time.Millisecond), time.Second)
}

// breaksLinks reports that a link is to break while the intent is under way.
func breaksLinks(i scenarios.PlannedIntent) bool {
	return slices.ContainsFunc(i.Moves, func(m scenarios.Move) bool {
		return slices.ContainsFunc(m.Batch, func(a scenarios.PlannedAttempt) bool { return a.Cut != nil })
	})
}

// sendAgain sends the n-th retry of an attempt after a pause, from 0; nil: the last answer asks for none, or the time for it
// is over.
func (r *intentRunner) sendAgain(ctx context.Context, i scenarios.PlannedIntent, a scenarios.PlannedAttempt, n int, pause time.Duration, last *outgoing) *outgoing {
	if !asksForRetry(a.RetryOn, last.record) || r.givenUp(false) {
		return nil
	}
	if !sleep(ctx, max(pause, RetryAfter(last.record))) || !r.paced(ctx, 1) {
		return nil
	}
	// A retry takes what the plan says of retries, and otherwise what the first attempt
	// had.
	id, key := retryID(a, n), a.Key
	if a.RetryKey == scenarios.FreshKey {
		key = id
	}
	a.Timeout = cmp.Or(a.RetryTime, a.Timeout)
	next := r.requests.newRequest(i, a, id, key, cmp.Or(a.RetryLane, a.Lane))
	next.record.Step, next.record.Retry = last.record.Step, n+1
	r.batch(ctx, []*outgoing{next}, func(*outgoing) {})
	return next
}

// retryID names the n-th retry of an attempt, from 0.
func retryID(a scenarios.PlannedAttempt, n int) string { return fmt.Sprintf("%s.r%d", a.ID, n+1) }
