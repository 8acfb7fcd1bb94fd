package orders

import (
	"context"
	"database/sql"
	"errors"
)

// checkThenInsert looks the key up, finds nothing, does the work and writes order and key.
//
// It passes every test that sends one request after the other: a repeat finds the key. But between
// the look and the write there is time, and nothing in the table holds the second of two requests
// back: both look, both find nothing, both write. The column has an index, which made the look fast,
// but the index is not unique; the transaction around the writes makes them atomic, not alone.
type checkThenInsert struct{ *api }

func checkThenInsertDesign() Design {
	return Design{
		Name:     "check-then-insert",
		Summary:  "looks the key up, works, then writes order and key: requests at the same time all find nothing",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "enter-plus-click"},
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(checkThenInsert{a}.create) },
	}
}

func (c checkThenInsert) create(ctx context.Context, req request) (answer, error) {
	first, err := c.db.recordOf(ctx, req.Key)
	if err == nil {
		return first.replayTo(req), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	if err := c.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err = c.db.transaction(ctx, func(tx *tx) error {
		err := tx.insertOrder(ctx, o)
		if err != nil {
			return err
		}
		return tx.insertKey(ctx, req, reply)
	})
	return reply, err
}
