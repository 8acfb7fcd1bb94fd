package driver

import (
	"context"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// pollEvery is the pause between two questions to the database: each one loads it.
const pollEvery = 5 * time.Millisecond

// wait pauses, or asks the database until the intent's row is there, and records the last that it saw. A failed
// question saw nothing. Where the target refused all that was sent, no row is to come: one look is enough.
func (r *intentRunner) wait(ctx context.Context, i scenarios.PlannedIntent, w scenarios.Wait, begun time.Time) {
	switch {
	case w.For == scenarios.WaitPause:
		sleep(ctx, w.Pause.Of(r.config.normal(i)))
		return
	case w.For == scenarios.WaitExpired:
		sleep(ctx, r.config.Target.Contract.Expiry.Past())
		return
	case w.For == scenarios.WaitRemembered:
		sleep(ctx, r.config.Target.Contract.StillKnown(w.Pause.Of(r.config.normal(i)), time.Since(begun)))
		return
	case r.config.Rows == nil:
		return
	}
	within := max(w.Within.Of(r.config.normal(i)), time.Duration(r.config.operation(i).Rows.VisibleWithin))
	if accepted := r.config.Target.Contract.Ack.Accepted; accepted.ByRows() {
		within = max(within, time.Duration(accepted.Within))
	}
	// Record only the last look: the first row that was seen, or that there was none until
	// the end.
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	last := history.Sighting{Intent: i.ID, Marker: r.config.marker(i, history.Original)}
	for last.Rows == 0 {
		if rows, err := r.config.Rows(ctx, r.config.operation(i).Name, last.Marker); err == nil {
			last.At, last.Rows = r.config.now(), rows
		}
		if last.Rows == 0 && (last.At != 0 && r.books.refused(i.ID) || !sleep(ctx, pollEvery)) {
			break
		}
	}
	if last.At != 0 {
		_ = r.config.Record.Sighting(last) // a failed write is noticed by the next attempt
	}
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

// sleep pauses for d and reports whether the context lived that long. A pause of zero or
// less only asks the context. time.Sleep would hold up the end of a run.
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
