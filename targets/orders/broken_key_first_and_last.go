package orders

import "context"

// keyFirstAndLast has one library for the first half of the work and one for the second, and a request may bring two keys.
//
// The look-up takes the first header of that name. What keeps the answer takes the last: its map of headers has room
// for one, and the next overwrites it. With one header both are the same. But where a client's library and the proxy in
// front of it each add a key, the answer lies where the look-up does not look, and every retry is executed.
type keyFirstAndLast struct {
	*api
	locks *locks
}

func keyFirstAndLastDesign() Design {
	return Design{
		Name:     "key-first-and-last",
		Summary:  "looks up the first of two key headers and keeps the answer under the last: a request that has two is executed at each repetition",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "key-first-of-two",
		Shows:    []string{"duplicate"},
		By:       []string{"key-two-headers"},
		schema:   []string{ordersTable, keysLoose, keysIndex},
		handler: func(a *api) handler {
			k := keyFirstAndLast{a, new(locks)}
			return func(ctx context.Context, req request) (answer, error) {
				kept := req
				if keys := req.Header.Values(keyHeader); len(keys) > 0 {
					kept = req.withKey(keys[len(keys)-1])
				}
				create := func(ctx context.Context, req request) (answer, error) { return k.create(ctx, req, kept) }
				return takingFirst(needKey(create))(ctx, req)
			}
		},
	}
}

func (k keyFirstAndLast) create(ctx context.Context, req, kept request) (answer, error) {
	defer k.locks.lock(req.Key)()
	first, err := k.db.known(ctx, req)
	if err != nil || first.Status != 0 {
		return first, err
	}
	if err := k.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err = k.db.retry(ctx, func() error {
		return k.db.transaction(ctx, func(tx *tx) error { return writeKeyAndOrder(ctx, tx, kept, o, reply) })
	})
	return reply, err
}
