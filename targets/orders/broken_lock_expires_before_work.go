package orders

import (
	"context"
	"time"
)

// lockExpiresBeforeWork holds the key's lock for a fixed time, so that a dead holder does not keep it for ever.
//
// The rest is as it should be: a duplicate waits for the lock, looks the key up again, and gives back
// only a lock that is still its own. But the time was chosen when a payment took two milliseconds. Now
// one takes longer, the lock is over in the middle of it, and the next in line finds no key and begins,
// too. Nothing asks the first one, when it writes at last, whether it still holds the lock.
type lockExpiresBeforeWork struct{ *api }

// lockTime is how long the lock is held at most.
const lockTime = 10 * time.Millisecond

func lockExpiresBeforeWorkDesign() Design {
	return Design{
		Name:     "lock-expires-before-work",
		Summary:  "a lock on the key that is over after 10ms, whether its holder is done or not: the next in line makes a second order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "tabs-one-key"},
		schema:   []string{ordersTable, keysLoose, keysIndex, locksTable},
		handler:  func(a *api) handler { return needKey(lockExpiresBeforeWork{a}.create) },
	}
}

func (l lockExpiresBeforeWork) create(ctx context.Context, req request) (answer, error) {
	token := newID("lock_")
	if err := l.lock(ctx, req.Key, token); err != nil {
		return answer{}, err
	}
	defer l.unlock(context.WithoutCancel(ctx), req.Key, token)
	reply, err := l.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	if err := l.work(ctx); err != nil {
		return answer{}, err
	}
	err = l.db.transaction(ctx, func(tx *tx) error {
		reply, err = tx.written(ctx, req)
		return err
	})
	return reply, err
}

// lock asks again and again until the lock is free.
func (l lockExpiresBeforeWork) lock(ctx context.Context, name, token string) error {
	for {
		taken, err := l.db.tryLock(ctx, name, token, lockTime)
		if err != nil || taken {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unlock gives back a lock that is still its own. Should it fail: the lock ends by itself.
func (l lockExpiresBeforeWork) unlock(ctx context.Context, name, token string) {
	_ = l.db.exec(ctx, `delete from locks where name = ? and token = ?`, name, token)
}
