package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// removals counts how often an intent's story removes what it has made.
func removals(i scenarios.PlannedIntent) int {
	n := 0
	for _, m := range i.Moves {
		if m.Remove {
			n++
		}
	}
	return n
}

// name returns how an answer names what its intent has made, and keeps it for when that is to be removed.
func (d *Driver) name(a history.Attempt) string {
	if d.Named == nil {
		return ""
	}
	named := d.Named(d.requests[a.Intent+history.Original].operation.Name, a)
	if named != "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.named[a.Intent] = named
	}
	return named
}

// remove removes what an intent has made and looks whether it is gone, and records how that went. What the intent
// was sent with so far is asked for no more: the keys are those of another wish.
func (d *Driver) remove(ctx context.Context, i scenarios.PlannedIntent, step int) {
	facts := history.Removal{Intent: i.ID, Step: step, Begun: d.now()}
	if err := d.removeMade(ctx, i, &facts); err != nil {
		facts.Error = d.mask().text(err.Error())
	} else {
		facts.Done = d.now()
		d.ledger.forget(i.ID)
	}
	_ = d.Record.Removal(facts) // a failed write is noticed by the next attempt
}

func (d *Driver) removeMade(ctx context.Context, i scenarios.PlannedIntent, facts *history.Removal) error {
	o := d.operation(i)
	e := d.errandFor(i, history.Remove, o.Remove)
	d.mu.Lock()
	named, known := d.named[i.ID]
	d.mu.Unlock()
	switch {
	case known:
		e.known = map[string]string{targets.MadeIdentity: named}
	case o.RemovesByIdentity():
		return errors.New("no answer has named it (identity)")
	}
	if d.Rows == nil {
		return errors.New("nobody can be asked whether its row is gone")
	}
	marker := d.marker(i, history.Original)
	var err error
	if facts.Found, err = d.Rows(ctx, o.Name, marker); err != nil {
		return err
	}
	if facts.Found == 0 {
		return errors.New("there was no row to be removed")
	}
	if _, err = d.run(ctx, e); err != nil {
		return err
	}
	left, err := d.Rows(ctx, o.Name, marker)
	if err == nil && left > 0 {
		err = fmt.Errorf("its row is still found (%d), so the row query counts what was removed, or it was not", left)
	}
	return err
}
