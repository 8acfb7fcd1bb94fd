package orders

import (
	"context"
	"errors"
)

// storeFailsOpen claims the key in Redis and keeps the answer there, and does without when Redis is away.
//
// "An outage of the cache must not stop the shop", says the runbook: whatever goes wrong with Redis is overlooked,
// and the order is made. For a customer who orders once that is right. But the clients that try again are those
// that were answered late or not at all, and an outage makes many of them: each time is the first, as nothing
// but Redis knows of keys. Nobody has told the clients, whose contract says nothing of outages.
type storeFailsOpen struct{ storeForgets }

func storeFailsOpenDesign() Design {
	return Design{
		Name:     "store-fails-open",
		Summary:  "when Redis cannot be asked, the order is made without: repeats in an outage, or after it, make further ones",
		Contract: claimed(),
		Key:      requiredKey(),
		Twin:     "store-fails-closed",
		Shows:    []string{"duplicate"},
		By:       []string{"store-away", "store-cut"},
		Redis:    true,
		schema:   []string{ordersTable},
		handler: func(a *api) handler {
			return needKey(storeFailsOpen{storeForgets{redisClaimAndRecord{onRedis{a}}}}.create)
		},
	}
}

func (s storeFailsOpen) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	claim, err := s.claim(ctx, req)
	if err == nil && claim == "" {
		if reply, err := s.repeat(ctx, req); err == nil {
			return reply, nil
		}
	}
	reply, err := s.ordered(ctx, req)
	switch {
	case err != nil && claim != "":
		return answer{}, errors.Join(err, s.redis.deleteIf(ctx, s.redis.recordName(req.Key), claim))
	case err == nil && claim != "":
		_ = s.keep(ctx, req, claim, record{Fingerprint: req.Fingerprint, Answer: reply}) // an outage of the cache must not stop the shop
	}
	return reply, err
}
