package orders

import "context"

// uniqueKey writes the key and the order in one transaction, and lets a unique index decide.
//
// The first request inserts a row for its key. Another one with the same key waits at that index
// until the first transaction ends: if it committed, the index refuses the second, which then gives
// the recorded answer; if it was rolled back (a failure, a client that left), the second goes on as
// if it were the first. Key and order are written together or not at all, so that there is never a
// key without an order, nor an order without a key.
//
// Many other designs are this one with one of its parts exchanged, see varied.
type uniqueKey struct {
	*api
	parts
}

// parts are what variations of uniqueKey do in their own way.
type parts struct {
	key         func(req request) string // by which a request is remembered
	fingerprint func(req request) string // by which another body is known
	tell        func(o order) answer     // the first answer
	write       func(ctx context.Context, tx *tx, req request, o order, reply answer) error
	replay      func(ctx context.Context, first record, req request) (answer, error)
}

func uniqueKeyDesign() Design {
	return Design{
		Name:     "unique-key",
		Summary:  "the key's row and the order in one transaction, a unique index on the key: a duplicate waits and gets the recorded answer",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(newUniqueKey(a).create) },
	}
}

func newUniqueKey(a *api) uniqueKey {
	return uniqueKey{api: a, parts: parts{
		key:         func(req request) string { return req.Key },
		fingerprint: func(req request) string { return req.Fingerprint },
		tell:        created,
		write:       writeKeyAndOrder,
		replay:      replayExactly,
	}}
}

// varied is uniqueKey with other parts. The change gets those that it does not exchange, too.
func varied(change func(a *api, p *parts)) func(*api) handler {
	return func(a *api) handler {
		u := newUniqueKey(a)
		change(a, &u.parts)
		return needKey(u.create)
	}
}

func (u uniqueKey) create(ctx context.Context, req request) (answer, error) {
	req.Key, req.Fingerprint = u.key(req), u.fingerprint(req)
	var reply answer
	// Several requests that wait for a key whose first request was rolled back may deadlock on
	// MariaDB. All but one are rolled back, too, and begin again.
	err := u.db.retry(ctx, func() error {
		var err error
		reply, err = u.execute(ctx, req)
		if isDuplicate(err) {
			reply, err = u.repeat(ctx, req)
		}
		return err
	})
	return reply, err
}

func (u uniqueKey) execute(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := u.tell(o)
	err := u.db.transaction(ctx, func(tx *tx) error {
		if err := u.write(ctx, tx, req, o, reply); err != nil {
			return err
		}
		return u.work(ctx)
	})
	return reply, err
}

// repeat runs after the failed transaction and outside it: PostgreSQL answers nothing inside a
// transaction in which an insert was refused.
func (u uniqueKey) repeat(ctx context.Context, req request) (answer, error) {
	first, err := u.db.recordOf(ctx, req.Key)
	if err != nil {
		return answer{}, err
	}
	return u.replay(ctx, first, req)
}

func writeKeyAndOrder(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := tx.insertKey(ctx, req, reply); err != nil {
		return err
	}
	return tx.insertOrder(ctx, o)
}

// writeDetached writes key and order, whether or not the client leaves meanwhile.
func (a *api) writeDetached(ctx context.Context, req request, o order, reply answer) error {
	ctx = context.WithoutCancel(ctx)
	return a.db.retry(ctx, func() error {
		return a.db.transaction(ctx, func(tx *tx) error { return writeKeyAndOrder(ctx, tx, req, o, reply) })
	})
}

func replayExactly(_ context.Context, first record, req request) (answer, error) {
	return first.replayTo(req), nil
}

// replayAnyway gives the recorded answer whatever the body is.
func replayAnyway(_ context.Context, first record, _ request) (answer, error) {
	return first.Answer, nil
}

// retold replays an answer that was changed on the way.
func retold(change func(first answer) answer) func(context.Context, record, request) (answer, error) {
	return func(_ context.Context, first record, req request) (answer, error) {
		if first.Fingerprint != req.Fingerprint {
			return keyReused(), nil
		}
		return change(first.Answer), nil
	}
}
