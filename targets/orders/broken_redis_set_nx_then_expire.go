package orders

import "context"

// redisSetNXThenExpire sets the key's guard in Redis with one command, and its end with another.
//
// SETNX takes no time to live, so EXPIRE gives it one. When it was written there was nothing between the two.
// Now there is: the guard is to end an hour after the order was made, and so EXPIRE moved behind it. A failure
// deletes the guard. But the commonest failure is a client that leaves: the context of its request ends, the
// work stops, and neither DEL nor EXPIRE is even sent, because they have the same context. What is left
// is a guard without an end, and the client that comes back is told that its request is being executed.
type redisSetNXThenExpire struct{ onRedis }

func redisSetNXThenExpireDesign() Design {
	return Design{
		Name:     "redis-set-nx-then-expire",
		Summary:  "SETNX before the work, EXPIRE after it: who leaves in between leaves a guard without an end, the key says 409 for ever, and there is no order",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "redis-claim-and-record",
		Shows:    []string{"stuck-key"},
		By:       []string{"slow-road", "impatient-retry"},
		Redis:    true,
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(redisSetNXThenExpire{onRedis{a}}.create) },
	}
}

func (r redisSetNXThenExpire) create(ctx context.Context, req request) (answer, error) {
	name := r.redis.lockName(req.Key)
	guarded, err := r.redis.setNew(ctx, name, "guarded", 0)
	if err != nil {
		return answer{}, err
	}
	if !guarded {
		reply, err := r.db.known(ctx, req)
		if err == nil && reply.Status == 0 {
			reply = keyInUse()
		}
		return reply, err
	}
	reply, err := r.written(ctx, req)
	if err != nil {
		_ = r.redis.do(ctx, "DEL", name)
		return answer{}, err
	}
	return reply, r.redis.do(ctx, "EXPIRE", name, int(memory.Seconds()))
}

func (r redisSetNXThenExpire) written(ctx context.Context, req request) (answer, error) {
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	return r.writes(ctx, req)
}
