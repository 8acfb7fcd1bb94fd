package orders

import (
	"context"
	"net/http"
)

// storeFailsClosed is redisClaimAndRecord, and says 503 while Redis is away.
//
// Without its store it cannot distinguish a repeat from a new request, so it executes neither: during an outage
// clients are told to retry, and find everything as it was. What the outage took away after a claim is
// not lost either, as the key stands in the database with the order.
type storeFailsClosed struct{ redisClaimAndRecord }

func storeFailsClosedDesign() Design {
	return Design{
		Name:     "store-fails-closed",
		Summary:  "while Redis is away nothing is executed and everybody gets a 503; a unique index in the database is the authority",
		Correct:  true,
		Contract: claimed(),
		Key:      requiredKey(),
		Redis:    true,
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(storeFailsClosed{redisClaimAndRecord{onRedis{a}}}.create)
		},
	}
}

func (s storeFailsClosed) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	claim, err := s.claim(ctx, req)
	if err != nil {
		return storeAway(), nil
	}
	if claim != "" {
		return s.execute(ctx, req, claim)
	}
	reply, err := s.repeat(ctx, req)
	if err != nil {
		return storeAway(), nil
	}
	return reply, nil
}

func storeAway() answer {
	return problem(http.StatusServiceUnavailable, "store_away", "nothing was done; try again later")
}
