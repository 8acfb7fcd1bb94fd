package orders

import (
	"context"
	"time"
)

// lockReleasedByNonOwner defers the release of the lock before it knows whether it got the lock.
//
// "Defer the unlock first, then it cannot be forgotten" is good advice for what cannot fail. Here a second
// request is refused, as it should be, and on its way out deletes the lock of the first, which is still
// at work. The third request finds no lock and no key. One at a time this never happens, and two at a
// time are not enough either.
type lockReleasedByNonOwner struct{ *api }

func lockReleasedByNonOwnerDesign() Design {
	return Design{
		Name:     "lock-released-by-non-owner",
		Summary:  "deletes the key's lock on every way out, also of a request that was refused because of it: the third one gets in",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"duplicate"},
		By:       []string{"rage-clicks"},
		schema:   []string{ordersTable, keysLoose, keysIndex, locksTable},
		handler:  func(a *api) handler { return needKey(lockReleasedByNonOwner{a}.create) },
	}
}

func (l lockReleasedByNonOwner) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	defer l.unlock(ctx, req.Key)
	locked, err := l.db.tryLock(ctx, req.Key, newID("lock_"), time.Minute)
	if err != nil {
		return answer{}, err
	}
	reply, err := l.db.known(ctx, req)
	switch {
	case err != nil || reply.Status != 0:
		return reply, err
	case !locked:
		return keyInUse(), nil
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

// unlock deletes the lock, even if another request holds it.
func (l lockReleasedByNonOwner) unlock(ctx context.Context, name string) {
	_ = l.db.exec(ctx, `delete from locks where name = ?`, name)
}
