package orders

import (
	"context"
	"net/http"
	"sync"
)

// cachedInProgressDesign keeps the first answer that a key gets, also if it says "come back".
//
// Behind the cache everything is right: a key that is being executed is told so, and later has its
// answer. The cache in front of it was to save the database from repeats, and keeps what is no server
// error. But when two requests come at the same time, the first answer that is ready is the 409 of
// the second. From then on the key says 409, to the client that got the order as well.
func cachedInProgressDesign() Design {
	return Design{
		Name:     "cached-in-progress",
		Summary:  "keeps the first answer of a key in a cache, also a 409 that says come back: who does gets it for ever",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"refused-though-done"},
		By:       []string{"burst-same-key", "tabs-one-key", "enter-plus-click"},
		schema:   []string{ordersTable, leasedKeysTable},
		handler: func(a *api) handler {
			return needKey(firstAnswerKept(inProgress409{a, lease + a.effort}.create))
		},
	}
}

func firstAnswerKept(next handler) handler {
	var kept sync.Map // records by key
	return func(ctx context.Context, req request) (answer, error) {
		if first, found := kept.Load(req.Key); found {
			return first.(record).replayTo(req), nil
		}
		reply, err := next(ctx, req)
		if err == nil && reply.Status < http.StatusInternalServerError {
			kept.LoadOrStore(req.Key, record{Fingerprint: req.Fingerprint, Answer: reply})
		}
		return reply, err
	}
}
