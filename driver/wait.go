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
	switch {
	case w.For == scenarios.WaitPause:
		sleep(ctx, w.Pause.Of(d.Normal))
		return
	case w.For == scenarios.WaitExpired:
		sleep(ctx, pastExpiry(time.Duration(d.Target.Contract.Expiry.After)))
		return
	case d.Rows == nil:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.Within.Of(d.Normal))
	defer cancel()
	last := history.Sighting{Intent: i.ID, Marker: d.requests[i.ID+history.Original].marker}
	for last.Rows == 0 {
		if rows, err := d.Rows(ctx, d.operation(i).Name, last.Marker); err == nil {
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

// pastExpiry is a time after which no clock that goes right still remembers a key: a tenth more than
// promised, and more than a second where times are kept in seconds.
func pastExpiry(after time.Duration) time.Duration {
	margin := max(after/10, 100*time.Millisecond)
	if after >= time.Second {
		margin = max(margin, 1100*time.Millisecond)
	}
	return after + margin
}

// look looks into the database once and records what it saw.
func (d *Driver) look(ctx context.Context, i scenarios.PlannedIntent) {
	if d.Rows == nil {
		return
	}
	seen := history.Sighting{Intent: i.ID, Marker: d.requests[i.ID+history.Original].marker}
	rows, err := d.Rows(ctx, d.operation(i).Name, seen.Marker)
	if err != nil {
		return
	}
	seen.At, seen.Rows = d.now(), rows
	_ = d.Record.Sighting(seen) // a failed write is noticed by the next attempt
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
