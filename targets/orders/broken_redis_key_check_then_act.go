package orders

import (
	"context"
	"errors"

	"github.com/gomodule/redigo/redis"
)

// redisKeyCheckThenAct gets the key's record from Redis, works, and sets it.
//
// Redis executes one command after the other, so it was thought that there could be no race. But the look is one
// command and the record is another, and between the two the payment is authorised and the order is
// made. Requests that come in this time find no record, and each makes an order; the last record stays.
type redisKeyCheckThenAct struct{ onRedis }

func redisKeyCheckThenActDesign() Design {
	return Design{
		Name:     "redis-key-check-then-act",
		Summary:  "GET of the key's record in Redis, then the order, then SET: requests at the same time all find nothing",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "redis-claim-and-record",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "enter-plus-click"},
		Redis:    true,
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return needKey(redisKeyCheckThenAct{onRedis{a}}.create) },
	}
}

func (r redisKeyCheckThenAct) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	first, err := r.redis.recordOf(ctx, req.Key)
	if !errors.Is(err, redis.ErrNil) {
		return first.replayTo(req), err
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	if err := r.db.retry(ctx, func() error { return r.db.insertOrder(ctx, o) }); err != nil {
		return answer{}, err
	}
	return reply, r.redis.remember(ctx, req, reply)
}
