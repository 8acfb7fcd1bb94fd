package orders

import (
	"context"
	"time"
)

// waitersTold has repeats wait in memory until the request that came first is through, and tells all of them.
//
// Closing the channel reaches everyone who waits, however many they are and however the first request ended. They
// wait for long, since the work takes its time, and then find the record of the first in the database, which also
// decides where processes do not share their memory.
type waitersTold struct {
	uniqueKey
	turns *turnstile
}

// waitersWork is what the payment takes longer here than elsewhere.
const waitersWork = 100 * time.Millisecond

func waitersToldDesign() Design {
	return Design{
		Name:     "waiters-told",
		Summary:  "repeats wait in memory for the first request, whose work is slow, and all of them are told when it is through",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(waitersTold{newUniqueKey(a), &turnstile{}}.create)
		},
	}
}

func (w waitersTold) create(ctx context.Context, req request) (answer, error) {
	inside, err := w.turns.enter(ctx, req.Key)
	if err != nil {
		return answer{}, err
	}
	if inside {
		defer func() { close(w.turns.leave(req.Key).through) }()
		select {
		case <-time.After(waitersWork):
		case <-ctx.Done():
			return answer{}, ctx.Err()
		}
	}
	return w.uniqueKey.create(ctx, req)
}
