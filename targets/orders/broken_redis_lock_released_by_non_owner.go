package orders

import (
	"context"
	"time"
)

// redisLockReleasedByNonOwner deletes the key's lock in Redis on every way out, even if another request has set it.
//
// The lock has an end, far away, and is set in one command. But its value is just "locked", and DEL does not
// ask whose it is: a second request is refused, as it should be, and takes the lock of the first, which is
// still at work, with it. The third request finds neither lock nor order. A lock that is over before its
// holder has the same end: the holder then deletes that of the next.
type redisLockReleasedByNonOwner struct{ onRedis }

func redisLockReleasedByNonOwnerDesign() Design {
	return Design{
		Name:     "redis-lock-released-by-non-owner",
		Summary:  "a lock in Redis without a token, and DEL on every way out, also of a request that was refused: the third one gets in",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "redis-claim-and-record",
		Shows:    []string{"duplicate"},
		By:       []string{"rage-clicks"},
		Redis:    true,
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler:  func(a *api) handler { return needKey(redisLockReleasedByNonOwner{onRedis{a}}.create) },
	}
}

func (r redisLockReleasedByNonOwner) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	defer r.redis.do(ctx, "DEL", r.redis.lockName(req.Key))
	locked, err := r.redis.lock(ctx, req.Key, "locked", time.Minute)
	if err != nil {
		return answer{}, err
	}
	reply, err := r.db.known(ctx, req)
	switch {
	case err != nil || reply.Status != 0:
		return reply, err
	case !locked:
		return keyInUse(), nil
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	return r.writes(ctx, req)
}
