package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// remove removes the row of an intent, checks that it is gone, and records both. The keys
// that the intent was sent with so far are not probed: they belonged to the removed row. A
// removal that fails is on record, and the checker then knows what it does not know.
func (r *intentRunner) remove(ctx context.Context, i scenarios.PlannedIntent, step int) {
	facts := history.Removal{Intent: i.ID, Step: step, Begun: r.config.now()}
	if err := r.removeRow(ctx, i, &facts); err != nil {
		facts.Error = r.maskError(err)
	} else {
		facts.Done = r.config.now()
		r.books.forget(i.ID)
	}
	_ = r.config.Record.Removal(facts) // a failed write is noticed by the next attempt
}

// removeRow counts the rows, sends the steps, and counts again: a row query may find rows
// that are only marked as deleted, and then nothing could be said of the next create.
func (r *intentRunner) removeRow(ctx context.Context, i scenarios.PlannedIntent, facts *history.Removal) error {
	o := r.config.operation(i)
	run := r.requests.stepRunFor(i, history.Remove, o.Remove)
	identity, known := r.books.identity(i.ID)
	switch {
	case known:
		run.known = map[string]string{targets.MadeIdentity: identity}
	case o.RemovesByIdentity():
		return errors.New("no answer has named it (identity)")
	}
	if r.config.Rows == nil {
		return errors.New("its rows cannot be read, so it is not known whether it is gone")
	}
	marker := r.config.marker(i, history.Original)
	var err error
	if facts.Found, err = r.config.Rows(ctx, o.Name, marker); err != nil {
		return err
	}
	if facts.Found == 0 {
		return errors.New("there was no row to be removed")
	}
	if _, err = r.steps.run(ctx, run); err != nil {
		return err
	}
	left, err := r.config.Rows(ctx, o.Name, marker)
	if err == nil && left > 0 {
		err = fmt.Errorf("its row is still found (%d), so the row query counts what was removed, or it was not", left)
	}
	return err
}
