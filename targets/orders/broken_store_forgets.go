package orders

import (
	"context"
	"errors"

	"github.com/doubletap-harness/doubletap/contract"
)

// storeForgets claims the key in Redis and keeps the answer there, and nowhere else.
//
// Claims have a token and a lease, answers an hour, and the two are set in one command each: as long as Redis has
// what it was given, a key is executed once. But Redis was set up as a cache. It is emptied when somebody clears
// the cache, when it is full, and when it is started again, and it loses what was not copied yet when another server
// takes over. The order is there all the while, and nothing in the database says under which key it was made.
type storeForgets struct{ redisClaimAndRecord }

func storeForgetsDesign() Design {
	return Design{
		Name:     "store-forgets",
		Summary:  "claims and answers in Redis only: once it is emptied, every key is new, and a repeat makes a second order",
		Contract: claimed(),
		Key:      requiredKey(),
		Twin:     "redis-claim-and-record",
		Shows:    []string{"duplicate"},
		By:       []string{"store-flushed"},
		Redis:    true,
		schema:   []string{ordersTable},
		handler: func(a *api) handler {
			return needKey(storeForgets{redisClaimAndRecord{onRedis{a}}}.create)
		},
	}
}

// claimed is the contract of those who claim keys for a time.
func claimed() contract.Contract {
	promise := turningAway()
	promise.Lease = contract.Duration(lease + defaultWork)
	return promise
}

func (s storeForgets) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	claim, err := s.claim(ctx, req)
	switch {
	case err != nil:
		return answer{}, err
	case claim == "":
		return s.repeat(ctx, req)
	}
	reply, err := s.ordered(ctx, req)
	if err != nil {
		return answer{}, errors.Join(err, s.redis.deleteIf(ctx, s.redis.recordName(req.Key), claim))
	}
	return reply, s.keep(ctx, req, claim, record{Fingerprint: req.Fingerprint, Answer: reply})
}

// ordered makes the order, and nothing beside it.
func (s storeForgets) ordered(ctx context.Context, req request) (answer, error) {
	if err := s.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	return created(o), s.db.retry(ctx, func() error { return s.db.insertOrder(ctx, o) })
}
