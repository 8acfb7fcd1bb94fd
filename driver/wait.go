package driver

import (
	"context"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// pollEvery is the pause between two questions to the database.
const pollEvery = 5 * time.Millisecond

// wait pauses, or asks the database until the intent's row is there, and records the last that it saw. A failed
// question saw nothing.
func (r *intentRunner) wait(ctx context.Context, i scenarios.PlannedIntent, w scenarios.Wait) {
	switch {
	case w.For == scenarios.WaitPause:
		sleep(ctx, w.Pause.Of(r.config.Normal))
		return
	case w.For == scenarios.WaitExpired:
		sleep(ctx, pastExpiry(time.Duration(r.config.Target.Contract.Expiry.After)))
		return
	case r.config.Rows == nil:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.Within.Of(r.config.Normal))
	defer cancel()
	last := history.Sighting{Intent: i.ID, Marker: r.config.marker(i, history.Original)}
	for last.Rows == 0 {
		if rows, err := r.config.Rows(ctx, r.config.operation(i).Name, last.Marker); err == nil {
			last.At, last.Rows = r.config.now(), rows
		}
		if last.Rows == 0 && !sleep(ctx, pollEvery) {
			break
		}
	}
	if last.At != 0 {
		_ = r.config.Record.Sighting(last) // a failed write is noticed by the next attempt
	}
}

// pastExpiry is the time after which a key must have expired by any correct clock: a tenth more than promised, and
// at least 1.1 s more where times are kept in seconds.
func pastExpiry(after time.Duration) time.Duration {
	margin := max(after/10, 100*time.Millisecond)
	if after >= time.Second {
		margin = max(margin, 1100*time.Millisecond)
	}
	return after + margin
}

// look asks the database once and records what it saw.
func (r *intentRunner) look(ctx context.Context, i scenarios.PlannedIntent) {
	if r.config.Rows == nil {
		return
	}
	seen := history.Sighting{Intent: i.ID, Marker: r.config.marker(i, history.Original)}
	rows, err := r.config.Rows(ctx, r.config.operation(i).Name, seen.Marker)
	if err != nil {
		return
	}
	seen.At, seen.Rows = r.config.now(), rows
	_ = r.config.Record.Sighting(seen) // a failed write is noticed by the next attempt
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
