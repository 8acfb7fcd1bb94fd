package driver

import (
	"context"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Flush deletes what the target's store may lose, and tells how many keys that were.
type Flush func(context.Context) (deleted int, err error)

// sweepOut empties the store before a story in which it is flushed, so that what is deleted later was put there by
// this story.
func (d *Driver) sweepOut(ctx context.Context, i scenarios.PlannedIntent) {
	if slices.ContainsFunc(i.Moves, func(m scenarios.Move) bool { return m.Flush }) {
		d.flush(ctx, i.ID, outsideSteps)
	}
}

// flush makes the store lose what it holds, and records how much that was. One that failed proves nothing.
func (d *Driver) flush(ctx context.Context, intent string, step int) {
	facts := history.Flush{Intent: intent, Step: step, Begun: d.now()}
	var err error
	if facts.Deleted, err = d.Flush(ctx); err != nil {
		facts.Error = d.mask().text(err.Error())
	} else {
		facts.Done = d.now()
	}
	_ = d.Record.Flush(facts) // a failed write is noticed by the next attempt
}
