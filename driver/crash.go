package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Crasher is the target's process, as far as a plan needs it.
type Crasher struct {
	Kill  func() error                // at once; returns when nothing of it is left. An error: it had ended by itself
	Start func(context.Context) error // again; returns when it takes requests
}

// crash kills the target when the request that stands at the gate has been let go for its time, and starts it
// again. The gate is over when the target is ready.
func (d *Driver) crash(ctx context.Context, m scenarios.Move, at *gate) {
	from, to := m.Crash.From.Of(d.Normal), m.Crash.To.Of(d.Normal)
	after := gap{lo: from, hi: max(from, to)}.at(m.Crash.Part)
	facts := history.Crash{Attempt: m.Volley[0].ID, After: history.Offset(after)}
	at.after = func() {
		until(ctx, time.Now().Add(after))
		if ctx.Err() != nil {
			return
		}
		facts.Struck = d.now()
		if err := d.Crasher.Kill(); err != nil {
			d.halt(fmt.Errorf("%w: %w", ErrTargetGone, err))
			return
		}
		facts.Ended = d.now()
		if err := d.Crasher.Start(ctx); err != nil {
			facts.Error = d.mask().text(err.Error())
			d.halt(fmt.Errorf("%w: it was killed, and does not start again: %w", ErrTargetGone, err))
		} else {
			facts.Ready = d.now()
		}
		_ = d.Record.Crash(facts) // a failed write is noticed by the next attempt
	}
}
