package orders

import "context"

// advisoryLock locks the key itself, which needs no row to exist.
//
// The lock's name is a number made of the key. Two keys may make the same one; they take turns then, and
// that is all, because what decides is the look that follows. It is a lock of the transaction: the
// database gives it back with the commit and not before, and with whatever else ends the transaction.
type advisoryLock struct{ *api }

func advisoryLockDesign() Design {
	return Design{
		Name:     "advisory-lock",
		Summary:  "an advisory lock on the key until the transaction ends, then a look, then the writes: a duplicate waits and finds the key",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		On:       []string{"postgres"},
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(advisoryLock{a}.create) },
	}
}

func (l advisoryLock) create(ctx context.Context, req request) (reply answer, err error) {
	err = l.db.retry(ctx, func() error {
		return l.db.transaction(ctx, func(tx *tx) error {
			if err := tx.exec(ctx, `select pg_advisory_xact_lock(hashtextextended(?, 0))`, req.Key); err != nil {
				return err
			}
			if reply, err = tx.known(ctx, req); err != nil || reply.Status != 0 {
				return err
			}
			if err := l.work(ctx); err != nil {
				return err
			}
			reply, err = tx.written(ctx, req)
			return err
		})
	})
	return reply, err
}
