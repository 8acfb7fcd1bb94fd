package orders

import "context"

// redisSetNXPlusUnique turns repeats away by a lock in Redis, and lets a unique index in the database decide.
//
// The lock is there to save work: a request that does not get it is refused before anything is looked up or paid. It is
// set in one command with its end and with a token, and only who has the token deletes it. And yet it
// decides nothing. It may end before its holder, or be gone with the server that held it; then two requests
// are executed, and the index on the keys refuses the second, which gives the answer of the first.
type redisSetNXPlusUnique struct{ onRedis }

func redisSetNXPlusUniqueDesign() Design {
	return Design{
		Name:     "redis-set-nx-plus-unique",
		Summary:  "a lock in Redis, set at once with its token and its end, turns repeats away, and a unique index in the database decides",
		Correct:  true,
		Contract: claimed(),
		Key:      requiredKey(),
		Redis:    true,
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(redisSetNXPlusUnique{onRedis{a}}.create) },
	}
}

func (r redisSetNXPlusUnique) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	reply, err := r.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	token := newID("lock_")
	locked, err := r.redis.lock(ctx, req.Key, token, lease+r.effort)
	switch {
	case err != nil:
		return answer{}, err
	case !locked:
		return keyInUse(), nil
	}
	defer r.redis.unlock(ctx, req.Key, token)
	if reply, err = r.db.known(ctx, req); err != nil || reply.Status != 0 {
		return reply, err // its holder was done between the look and the lock
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	reply, err = r.writes(ctx, req)
	if isDuplicate(err) {
		return r.db.known(ctx, req)
	}
	return reply, err
}
