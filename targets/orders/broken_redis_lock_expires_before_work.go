package orders

import (
	"context"
	"time"
)

// redisLockExpiresBeforeWork holds the key's lock in Redis for a time in which the work is not done.
//
// The lock is made as it should be, in one command with its token and its end, and given back by who has the
// token. 10ms were plenty before payments were authorised somewhere else. Now the lock is over in the middle of
// it, the next in line finds no order and begins, too, and the first writes without asking whether the
// lock is still its own: the index on the keys is not unique, because the lock was to see to that.
type redisLockExpiresBeforeWork struct{ onRedis }

func redisLockExpiresBeforeWorkDesign() Design {
	return Design{
		Name:     "redis-lock-expires-before-work",
		Summary:  "a lock in Redis that is over after 10ms, whether its holder is done or not: the next in line makes a second order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "redis-claim-and-record",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "tabs-one-key"},
		Redis:    true,
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(redisLockExpiresBeforeWork{onRedis{a}}.create) },
	}
}

func (r redisLockExpiresBeforeWork) create(ctx context.Context, req request) (answer, error) {
	token := newID("lock_")
	if err := r.wait(ctx, req.Key, token); err != nil {
		return answer{}, err
	}
	defer r.redis.unlock(context.WithoutCancel(ctx), req.Key, token)
	reply, err := r.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	return r.writes(ctx, req)
}

// wait asks again and again until the lock is free.
func (r redisLockExpiresBeforeWork) wait(ctx context.Context, key, token string) error {
	for {
		locked, err := r.redis.lock(ctx, key, token, lockTime)
		if err != nil || locked {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
