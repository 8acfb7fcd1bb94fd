package orders

import (
	"context"
	"sync"
)

// probeAndStoreKeysDiffer looks answers up under one name and keeps them under another.
//
// A cache that several services share needs a prefix before each key. The one who wrote the look-up
// put it there, and so did the one who wrote the cache's method for keeping. Both halves work, each
// is tested against a cache with the right content, and no repeat ever finds anything.
type probeAndStoreKeysDiffer struct {
	*api
	cache *sync.Map // records by their prefixed key
}

func probeAndStoreKeysDifferDesign() Design {
	return Design{
		Name:     "probe-and-store-keys-differ",
		Summary:  "looks a key up with one prefix and keeps it with two: no repeat ever finds the first answer",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"sequential-replay", "withheld-answer", "burst-same-key"},
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return needKey(probeAndStoreKeysDiffer{a, new(sync.Map)}.create) },
	}
}

func (p probeAndStoreKeysDiffer) create(ctx context.Context, req request) (answer, error) {
	name := prefixed(req.Key)
	if first, found := p.cache.Load(name); found {
		return first.(record).replayTo(req), nil
	}
	reply, err := p.createWithoutKey(ctx, req)
	if err != nil {
		return answer{}, err
	}
	p.keep(name, record{Fingerprint: req.Fingerprint, Answer: reply})
	return reply, nil
}

func (p probeAndStoreKeysDiffer) keep(key string, r record) { p.cache.Store(prefixed(key), r) }

func prefixed(key string) string { return "idempotency:" + key }
