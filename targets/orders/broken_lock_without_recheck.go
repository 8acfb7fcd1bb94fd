package orders

import (
	"context"
	"database/sql"
	"errors"
)

// lockWithoutRecheck looks the key up, waits for the key's lock, and goes on from what it saw before.
//
// The lock does what it is for: no two requests with one key are executed at the same time. But those
// that wait have looked already, and found nothing. When their turn comes the order exists and its key
// is recorded, and they do not look again: they make their orders in a row instead of all at once. The
// index on the keys is not unique, because the lock was to see to that.
type lockWithoutRecheck struct {
	*api
	locks *locks
}

func lockWithoutRecheckDesign() Design {
	return Design{
		Name:     "lock-without-recheck",
		Summary:  "looks the key up, then waits for its lock and does not look again: who waited makes another order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "pessimistic-lock",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "enter-plus-click", "tabs-one-key"},
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(lockWithoutRecheck{a, new(locks)}.create) },
	}
}

func (l lockWithoutRecheck) create(ctx context.Context, req request) (answer, error) {
	first, err := l.db.recordOf(ctx, req.Key)
	if !errors.Is(err, sql.ErrNoRows) {
		return first.replayTo(req), err
	}
	defer l.locks.lock(req.Key)()
	if err := l.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err = l.db.retry(ctx, func() error {
		return l.db.transaction(ctx, func(tx *tx) error { return writeKeyAndOrder(ctx, tx, req, o, reply) })
	})
	return reply, err
}
