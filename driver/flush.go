package driver

import (
	"context"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Flush deletes what the target's store may lose, and tells how many keys that were.
type Flush func(context.Context) (deleted int, err error)

// flush makes the store lose what it holds, and records how much that was. One that failed proves nothing.
func (d *Driver) flush(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move) {
	facts := history.Flush{Intent: i.ID, Step: m.Step, Begun: d.now()}
	var err error
	if facts.Deleted, err = d.Flush(ctx); err != nil {
		facts.Error = d.mask.text(err.Error())
	} else {
		facts.Done = d.now()
	}
	_ = d.Record.Flush(facts) // a failed write is noticed by the next attempt
}
