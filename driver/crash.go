package driver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Trap keeps a message at its sink.
type Trap struct {
	// Set waits for the next message with one of these texts. It tells which message that was, and keeps the answers to it, and to those
	// that follow, until it is released. Before: the sink does nothing of what they ask.
	Set    func(texts []string, before bool) (sprung <-chan string, release func())
	Within time.Duration // how long after its request was answered a message may come
}

// Crasher kills and starts the target's process.
type Crasher struct {
	Kill  func() error                // returns when nothing of it is left; fails where it had ended by itself
	Start func(context.Context) error // returns when it takes requests again; also where it had ended by itself
}

// crash kills the target some time after the request that waits at the barrier was released, and starts it
// again. The barrier is over when the target is ready. A crash that comes after a whole create waits for the end of
// the request as well: how long that takes is not the same each time.
func (r *intentRunner) crash(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move, at *barrier, ended <-chan struct{}) {
	if m.Crash.At != "" {
		r.crashAtEffect(ctx, i, m, at, ended)
		return
	}
	after := crashAfter(*m.Crash, r.requests.inside.now(), r.config.Behind)
	shared := r.crashOf(i)
	at.before = func() { shared.gather(ctx, after) }
	at.after = func() {
		strike := time.Now().Add(after)
		if m.Crash.From.Share >= 1 {
			select {
			case <-ended:
			case <-ctx.Done():
			}
		}
		facts := shared.strike(ctx, strike, func() history.Crash { return r.strike(ctx, func() {}) })
		facts.Attempt, facts.After = m.Batch[0].ID, history.Offset(after)
		r.recordCrash(facts)
	}
}

// duringRequest is the part of the crashes of a request that strike while it is answered, where work goes on behind the answer.
const duringRequest = 2.0 / 3

// crashAfter is how long after its request's release a crash strikes. Where work goes on behind the answers, the last third of the crashes
// comes then, and all that come after an answer are spread over it: a worker that takes what is waiting is not yet at it when its client
// gets the answer.
func crashAfter(c scenarios.Crashing, inside, behind time.Duration) time.Duration {
	request := gap{lo: c.From.Of(inside)}
	request.hi = max(request.lo, c.To.Of(inside))
	switch work := (gap{lo: request.hi, hi: request.hi + behind}); {
	case behind <= 0 || c.To.Share <= 0:
		return request.at(c.Part)
	case c.From.Share >= 1:
		return gap{lo: request.lo, hi: work.hi}.at(c.Part)
	case c.Part < duringRequest:
		return request.at(c.Part / duringRequest)
	default:
		return work.at((c.Part - duringRequest) / (1 - duringRequest))
	}
}

// crashAtEffect kills the target when a message of the intent is at a sink, which keeps its answer until nothing of the target is left:
// what the new process sends is answered. An effect that does not come, or too late, makes no crash.
func (r *intentRunner) crashAtEffect(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move, at *barrier, ended <-chan struct{}) {
	trap := r.config.Controls.Trap
	var sprung <-chan string
	release := func() {}
	at.before = func() {
		sprung, release = trap.Set(r.config.words(i), m.Crash.At == scenarios.BeforeEffect)
		release = sync.OnceFunc(release)
	}
	at.after = func() {
		defer release()
		var late <-chan time.Time
		for {
			select {
			case message := <-sprung:
				facts := r.strike(ctx, release)
				facts.Attempt, facts.Message = m.Batch[0].ID, message
				r.recordCrash(facts)
				return
			case <-ended: // an outbox sends it behind the answer
				ended, late = nil, time.After(trap.Within)
			case <-late:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// strike kills the target, calls died, and starts the target again. What it returns is empty if that was no crash of ours.
func (r *intentRunner) strike(ctx context.Context, died func()) history.Crash {
	facts := history.Crash{Struck: r.config.now()}
	// Kill returns when the process is gone. Ended is taken right after: a request that is
	// answered later was answered by the new process.
	dead := r.config.Controls.Crasher.Kill()
	facts.Ended = r.config.now()
	died()
	err := r.config.Controls.Crasher.Start(ctx)
	switch {
	case dead != nil && err != nil:
		r.halt(fmt.Errorf("%w: %w", ErrTargetGone, dead))
		return history.Crash{}
	case dead != nil:
		return history.Crash{}
	case err != nil:
		facts.Error = r.maskError(err)
		r.halt(fmt.Errorf("%w: it was killed, and does not start again: %w", ErrTargetGone, err))
	default:
		facts.Ready = r.config.now()
		r.steps.logInAgain(ctx) // a session need not survive; where this fails, the answers tell
	}
	return facts
}

// recordCrash records a crash, if there was one.
func (r *intentRunner) recordCrash(facts history.Crash) {
	if facts.Struck != 0 {
		_ = r.config.Record.Crash(facts) // a failed write is noticed by the next attempt
	}
}
