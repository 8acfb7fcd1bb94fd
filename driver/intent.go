package driver

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/doubletap-harness/doubletap/driver/h2"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// intentRunner sends intents, move by move. Safe for concurrent use.
type intentRunner struct {
	*transmitter
	steps   *stepRunner
	sweeps  *sweeps
	release *releaser
}

func newIntentRunner(s *Sender) *intentRunner {
	return &intentRunner{
		transmitter: s.line, steps: s.steps, release: &releaser{realTime: s.config.RealTime},
		sweeps: &sweeps{normal: s.config.Normal, offsets: s.config.Repeat.Offsets, phase: s.config.Hooks.Phase},
	}
}

// runIntent sends one intent, move by move.
func (r *intentRunner) runIntent(ctx context.Context, i scenarios.PlannedIntent) {
	r.flushBefore(ctx, i)
	for _, m := range i.Moves {
		if ctx.Err() != nil {
			return
		}
		switch {
		case m.Wait != nil:
			r.wait(ctx, i, *m.Wait)
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

// runMove sends a batch and the retries that its answers ask for, and returns when all have ended.
func (r *intentRunner) runMove(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move) {
	if !r.paced(ctx, len(m.Batch)) {
		return
	}
	planned := map[string]scenarios.PlannedAttempt{}
	for _, a := range m.Batch {
		planned[a.ID] = a
	}
	var together *barrier
	if m.Together || m.Crash != nil {
		barrier, stop := newBarrier(ctx, r.release, len(m.Batch), cmp.Or(r.config.Hold, DefaultHold))
		defer stop()
		together = barrier
	}
	answered := func() {}
	if m.WriteGate {
		answered = r.holdWrites(ctx, i, m, together)
	}
	if m.Crash != nil {
		r.crash(ctx, m, together)
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

// load builds the requests of a move. Those that are released together share connections in HTTP/2.
func (r *intentRunner) load(i scenarios.PlannedIntent, m scenarios.Move, together *barrier) []*outgoing {
	var shared *h2.Pool
	if together != nil {
		shared = h2.NewPool()
	}
	all := make([]*outgoing, 0, len(m.Batch))
	for _, a := range m.Batch {
		o := r.requests.newRequest(i, a, a.ID, a.Key, a.Lane)
		o.record.Step, o.cut = m.Step, a.Cut
		if together != nil {
			o.member, o.record.Together = together.member(), m.Together
			o.shares(shared)
		}
		o.at = a.At.Of(r.config.Normal) + a.Plus.Of(r.config.Normal)
		all = append(all, o)
	}
	return all
}

// retry does what a client does that did not get what it wanted: pause and send again, as often as it may.
func (r *intentRunner) retry(ctx context.Context, i scenarios.PlannedIntent, a scenarios.PlannedAttempt, last *outgoing) {
	for n, pause := range a.Pauses {
		if !asksForRetry(a.RetryOn, last.record) {
			return
		}
		if !sleep(ctx, max(pause.Of(r.config.Normal), retryAfter(last.record))) || !r.paced(ctx, 1) {
			return
		}
		id, key := retryID(a, n), a.Key
		if a.RetryKey == scenarios.FreshKey {
			key = id
		}
		a.Timeout = cmp.Or(a.RetryTime, a.Timeout)
		next := r.requests.newRequest(i, a, id, key, cmp.Or(a.RetryLane, a.Lane))
		next.record.Step, next.record.Retry = last.record.Step, n+1
		r.batch(ctx, []*outgoing{next}, func(*outgoing) {})
		last = next
	}
}

// retryID names the n-th retry of an attempt, from 0.
func retryID(a scenarios.PlannedAttempt, n int) string { return fmt.Sprintf("%s.r%d", a.ID, n+1) }
