package orders

import "context"

// redisRecordedBeforeCommit sets the record in Redis, if there is none, and then makes the order.
//
// SET NX is one command, so that of requests at the same time one goes on, and all others have its answer at once,
// without a lock: every test of races passes. But the record is of what is to come. Redis is in no
// transaction of the database, and when that one is rolled back, as it is when the client leaves and the context
// of its request ends, the order is gone and the record stays. The client that comes back is shown a 201
// and an order that nobody made.
type redisRecordedBeforeCommit struct{ onRedis }

func redisRecordedBeforeCommitDesign() Design {
	return Design{
		Name:     "redis-recorded-before-commit",
		Summary:  "SET NX of the 201 in Redis before the order is committed: if that fails, a repeat is told of an order that does not exist",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "redis-claim-and-record",
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"slow-road", "impatient-retry"},
		Redis:    true,
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return needKey(redisRecordedBeforeCommit{onRedis{a}}.create) },
	}
}

func (r redisRecordedBeforeCommit) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	detached := context.WithoutCancel(ctx)
	record := redisRecord{record: record{Fingerprint: req.Fingerprint, Answer: reply}}
	recorded, err := r.redis.setNew(detached, r.redis.recordName(req.Key), record.text(), memory)
	switch {
	case err != nil:
		return answer{}, err
	case !recorded:
		first, err := r.redis.recordOf(ctx, req.Key)
		return first.replayTo(req), err
	}
	return reply, r.db.retry(ctx, func() error { return r.placeOrder(ctx, o) })
}
