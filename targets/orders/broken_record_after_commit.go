package orders

import (
	"context"
	"database/sql"
	"errors"
)

// recordAfterCommit commits the order, does what comes after an order, and then records the key.
//
// The key was meant to be recorded with the final answer, which is known only at the end. But the
// order exists from its commit on, while nothing knows its key yet. A client that gives up waiting
// for the confirmation and tries again makes a second order; so does one that has left, because the
// record is written with the context of its request, which has ended with it.
type recordAfterCommit struct{ *api }

func recordAfterCommitDesign() Design {
	return Design{
		Name:     "record-after-commit",
		Summary:  "commits the order, confirms it, then records the key: a retry in between makes a second order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"tabs-one-key", "cut-truncated-early-retry"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(recordAfterCommit{a}.create) },
	}
}

func (r recordAfterCommit) create(ctx context.Context, req request) (answer, error) {
	first, err := r.db.recordOf(ctx, req.Key)
	if err == nil {
		return first.replayTo(req), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err = r.db.insertOrder(ctx, o)
	if err != nil {
		return answer{}, err
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	err = r.db.insertKey(ctx, req, reply)
	if isDuplicate(err) {
		return reply, nil // somebody has recorded the key: it is safe now
	}
	return reply, err
}
