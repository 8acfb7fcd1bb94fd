package orders

import (
	"context"
	"database/sql"
	"errors"
)

// lockMissesAStripe has a row for fifteen of sixteen stripes.
//
// The migration counts from 0 and ends one too early, and a stripe without a row is taken for a key that nobody else
// can have: its requests go on without a lock. Fifteen keys of sixteen are safe, so a test with a dozen of them often sees
// nothing, and so does the team, until the sixteenth customer clicks twice.
type lockMissesAStripe struct{ lockStriped }

func lockMissesAStripeDesign() Design {
	d := lockStripedDesign()
	d.Name, d.Correct = "lock-misses-a-stripe", false
	d.Summary = "locks one of sixteen rows by the hash of the key, of which one does not exist: one key of sixteen has no lock"
	d.Twin = "lock-striped"
	d.Shows = []string{"duplicate"}
	d.By = []string{
		"burst-same-key", "tabs-one-key", "rage-clicks", "cut-reset-early-retry", "cut-truncated-early-retry",
		"withheld-answer-early-retry", "altered-race", "enter-plus-click", "burst-write-gate", "burst-under-load",
	}
	d.schema[len(d.schema)-1] = stripesOf(stripes - 1)
	d.handler = func(a *api) handler { return needKey(lockMissesAStripe{lockStriped{a}}.create) }
	return d
}

func (l lockMissesAStripe) create(ctx context.Context, req request) (answer, error) {
	_, err := l.db.stripeOf(ctx, req.Key)
	if errors.Is(err, sql.ErrNoRows) {
		return checkThenInsert{l.api}.create(ctx, req)
	}
	if err != nil {
		return answer{}, err
	}
	return l.lockStriped.create(ctx, req)
}
