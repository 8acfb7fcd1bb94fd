package driver

import (
	"context"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Flush deletes what the target's store may lose, and returns the number of keys deleted.
type Flush func(context.Context) (deleted int, err error)

// flushBefore empties the store before an intent that flushes it, so that the intent itself put there what is
// deleted later.
func (r *intentRunner) flushBefore(ctx context.Context, i scenarios.PlannedIntent) {
	if slices.ContainsFunc(i.Moves, func(m scenarios.Move) bool { return m.Flush }) {
		r.flush(ctx, i.ID, outsideSteps)
	}
}

// flush makes the store lose what it holds, and records how much that was. A failed one proves nothing.
func (r *intentRunner) flush(ctx context.Context, intent string, step int) {
	facts := history.Flush{Intent: intent, Step: step, Begun: r.config.now()}
	var err error
	if facts.Deleted, err = r.config.Controls.Flush(ctx); err != nil {
		facts.Error = r.maskError(err)
	} else {
		facts.Done = r.config.now()
	}
	_ = r.config.Record.Flush(facts) // a failed write is noticed by the next attempt
}
