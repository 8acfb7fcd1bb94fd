package orders

import (
	"context"
	"sync"
)

// storeProcessLocal remembers answers in a map, behind a mutex for each key: in the memory of its process.
//
// With one process it is correct for as long as that lives. With two of them behind a load balancer each has a
// map and mutexes of its own: what one has answered the other has never heard of, and makes again. A client that tries
// again is told of two orders, now of one and now of the other, as the balancer will have it. No test on one
// machine shows it.
type storeProcessLocal struct {
	*api
	locks   locks
	answers *sync.Map // records by key
}

func storeProcessLocalDesign() Design {
	return Design{
		Name:      "store-process-local",
		Summary:   "remembers keys in a map of its process: of two instances each makes an order of its own",
		Contract:  exactReplay(),
		Key:       requiredKey(),
		Twin:      "unique-key",
		Shows:     []string{"duplicate"},
		By:        []string{"other-instance", "sequential-replay", "burst-same-key"},
		Instances: 2,
		schema:    []string{ordersTable},
		handler:   func(a *api) handler { return needKey((&storeProcessLocal{api: a, answers: new(sync.Map)}).create) },
	}
}

func (s *storeProcessLocal) create(ctx context.Context, req request) (answer, error) {
	defer s.locks.lock(req.Key)()
	if first, known := s.answers.Load(req.Key); known {
		return first.(record).replayTo(req), nil
	}
	o := newOrder(req)
	reply := created(o)
	// A client that leaves must not undo what the map will remember.
	ctx = context.WithoutCancel(ctx)
	if err := s.db.retry(ctx, func() error { return s.placeOrder(ctx, o) }); err != nil {
		return answer{}, err
	}
	s.answers.Store(req.Key, record{Fingerprint: req.Fingerprint, Answer: reply})
	return reply, nil
}
