package orders

import "context"

// uniqueKey writes the key and the order in one transaction, and lets a unique index decide.
//
// The first request inserts a row for its key. Another one with the same key waits at that index
// until the first transaction ends: if it committed, the index refuses the second, which then gives
// the recorded answer; if it was rolled back (a failure, a client that left), the second goes on as
// if it were the first. Key and order are written together or not at all, so that there is never a
// key without an order, nor an order without a key.
type uniqueKey struct{ *api }

func uniqueKeyDesign() Design {
	return Design{
		Name:     "unique-key",
		Summary:  "the key's row and the order in one transaction, a unique index on the key: a duplicate waits and gets the recorded answer",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(uniqueKey{a}.create) },
	}
}

func (u uniqueKey) create(ctx context.Context, req request) (answer, error) {
	var reply answer
	// Several requests that wait for a key whose first request was rolled back may deadlock on
	// MariaDB. All but one are rolled back, too, and begin again.
	err := u.db.retry(ctx, func() error {
		var err error
		reply, err = u.execute(ctx, req)
		if isDuplicate(err) {
			reply, err = u.replay(ctx, req)
		}
		return err
	})
	return reply, err
}

func (u uniqueKey) execute(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	err := u.db.transaction(ctx, func(tx *tx) error {
		err := tx.exec(ctx, `insert into idempotency_keys (idempotency_key, fingerprint, status, location, body)
			values (?, ?, ?, ?, ?)`, reply.columns(req)...)
		if err != nil {
			return err
		}
		err = tx.exec(ctx, `insert into orders (id, note, reference, item, amount, created_at)
			values (?, ?, ?, ?, ?, ?)`, o.columns()...)
		if err != nil {
			return err
		}
		return u.work(ctx)
	})
	return reply, err
}

// replay runs after the failed transaction and outside it: PostgreSQL answers nothing inside a
// transaction in which an insert was refused.
func (u uniqueKey) replay(ctx context.Context, req request) (answer, error) {
	first, err := u.db.recordOf(ctx, req.Key)
	if err != nil {
		return answer{}, err
	}
	return first.replayTo(req), nil
}
