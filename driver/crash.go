package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Crasher kills and starts the target's process.
type Crasher struct {
	Kill  func() error                // returns when nothing of it is left; fails where it had ended by itself
	Start func(context.Context) error // returns when it takes requests again
}

// crash kills the target some time after the request that waits at the barrier was released, and starts it
// again. The barrier is over when the target is ready.
func (r *intentRunner) crash(ctx context.Context, m scenarios.Move, at *barrier) {
	from, to := m.Crash.From.Of(r.config.Normal), m.Crash.To.Of(r.config.Normal)
	after := gap{lo: from, hi: max(from, to)}.at(m.Crash.Part)
	facts := history.Crash{Attempt: m.Batch[0].ID, After: history.Offset(after)}
	at.after = func() {
		sleepUntil(ctx, time.Now().Add(after))
		if ctx.Err() != nil {
			return
		}
		facts.Struck = r.config.now()
		if err := r.config.Controls.Crasher.Kill(); err != nil {
			r.halt(fmt.Errorf("%w: %w", ErrTargetGone, err))
			return
		}
		facts.Ended = r.config.now()
		if err := r.config.Controls.Crasher.Start(ctx); err != nil {
			facts.Error = r.maskError(err)
			r.halt(fmt.Errorf("%w: it was killed, and does not start again: %w", ErrTargetGone, err))
		} else {
			facts.Ready = r.config.now()
		}
		_ = r.config.Record.Crash(facts) // a failed write is noticed by the next attempt
	}
}
