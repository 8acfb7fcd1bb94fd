package driver

import (
	"context"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// pollEvery is the pause between two looks into the database.
const pollEvery = 5 * time.Millisecond

// wait pauses, or looks into the database until the intent's row is there, and records what it saw
// last. A look that failed saw nothing.
func (d *Driver) wait(ctx context.Context, i scenarios.PlannedIntent, w scenarios.Wait) {
	if w.For == scenarios.WaitPause {
		sleep(ctx, w.Pause.Of(d.Normal))
		return
	}
	if d.Rows == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.Within.Of(d.Normal))
	defer cancel()
	last := history.Sighting{Intent: i.ID, Marker: d.requests[i.ID+history.Original].marker}
	for last.Rows == 0 {
		if rows, err := d.Rows(ctx, last.Marker); err == nil {
			last.At, last.Rows = d.now(), rows
		}
		if last.Rows == 0 && !sleep(ctx, pollEvery) {
			break
		}
	}
	if last.At != 0 {
		_ = d.Record.Sighting(last) // a failed write is noticed by the next attempt
	}
}

// sleep pauses for d and reports whether the context lived that long.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
