package orders

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// throttleSticksToKeyDesign throttles keys whose request failed, and has no end for it.
//
// A client that tries again and again after a failure is to be slowed down, so its key is noted when a request fails.
// Whoever wrote that meant to take the note away after a while, and the test with two requests sees the 429 that it
// waits for. But the commonest failure is a client that leaves: nothing was made, and its key is throttled for ever,
// while every other key gets through.
func throttleSticksToKeyDesign() Design {
	return Design{
		Name:     "throttle-sticks-to-key",
		Summary:  "throttles a key whose request failed, and for ever: the key says 429, there is no order, and fresh keys get through",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "throttled-for-a-while",
		Shows:    []string{"stuck-key"},
		By:       []string{"slow-road", "impatient-retry"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(throttledAfterFailure(newUniqueKey(a).create, func(time.Time) bool { return true }))
		},
	}
}

// throttledAfterFailure rejects requests with a key whose request failed, for as long as still says so of that moment.
func throttledAfterFailure(next handler, still func(failed time.Time) bool) handler {
	var failures sync.Map // moments by key
	return func(ctx context.Context, req request) (answer, error) {
		if at, found := failures.Load(req.Key); found && still(at.(time.Time)) {
			return problem(http.StatusTooManyRequests, "slow_down", "this key has failed; try again later"), nil
		}
		reply, err := next(ctx, req)
		if err != nil {
			failures.Store(req.Key, time.Now())
		}
		return reply, err
	}
}
