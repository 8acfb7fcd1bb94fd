package orders

import (
	"context"
	"errors"
)

// lockReleasedBeforeCommit wraps look and writes in a lock, and the request in a transaction.
//
// Each of the two is right. A helper locks, runs the block and unlocks; the framework begins a transaction
// before the request and commits it at the end. So the lock is inside the transaction: it is given back
// when the rows are written and nobody can see them yet. The next one gets it, looks, and finds nothing.
// The lock has to be outside, or to be one of the transaction, see advisory-lock.
//
// A lock of a session outlives a transaction that is given up, therefore the request goes on when its
// client has left.
type lockReleasedBeforeCommit struct{ *api }

func lockReleasedBeforeCommitDesign() Design {
	return Design{
		Name:     "lock-released-before-commit",
		Summary:  "locks the key, looks, writes and unlocks, and commits later: the next holder of the lock does not see the rows yet",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "pessimistic-lock",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "tabs-one-key"},
		On:       []string{"postgres", "mariadb"},
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(lockReleasedBeforeCommit{a}.create) },
	}
}

func (l lockReleasedBeforeCommit) create(ctx context.Context, req request) (reply answer, err error) {
	ctx = context.WithoutCancel(ctx)
	err = l.db.transaction(ctx, func(tx *tx) error {
		err := tx.underLock(ctx, hash([]byte(req.Key)), func() error {
			reply, err = tx.knownOrWritten(ctx, req)
			return err
		})
		if err != nil {
			return err
		}
		return l.work(ctx)
	})
	return reply, err
}

// underLock runs body while the session holds a lock with this name.
func (t *tx) underLock(ctx context.Context, name string, body func() error) error {
	lock, unlock := `select pg_advisory_lock(hashtextextended(?, 0))`, `select pg_advisory_unlock(hashtextextended(?, 0))`
	if t.dialect == dialectMariaDB {
		lock, unlock = `select get_lock(?, 60)`, `select release_lock(?)`
	}
	if err := t.exec(ctx, lock, name); err != nil {
		return err
	}
	return errors.Join(body(), t.exec(ctx, unlock, name))
}
