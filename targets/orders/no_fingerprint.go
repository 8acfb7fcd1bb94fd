package orders

import "context"

// noFingerprint is unique-key without a look at the body.
//
// Rows, waiting and replay are right. But the record remembers only which key was used, not for
// what: a client that uses a key again for another order, by a bug of its own, is told "created",
// gets the first order's answer and never learns that the second order does not exist. Some
// providers document this and may do it; this one promises 422.
type noFingerprint struct{ *api }

func noFingerprintDesign() Design {
	return Design{
		Name:     "no-fingerprint",
		Summary:  "compares only the key: another body with a used key gets the first order's answer instead of 422",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Shows:    []string{"altered-body-violation"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(noFingerprint{a}.create) },
	}
}

func (n noFingerprint) create(ctx context.Context, req request) (answer, error) {
	var reply answer
	err := n.db.retry(ctx, func() error {
		var err error
		reply, err = n.execute(ctx, req)
		if isDuplicate(err) {
			var first record
			first, err = n.db.recordOf(ctx, req.Key)
			reply = first.Answer
		}
		return err
	})
	return reply, err
}

func (n noFingerprint) execute(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	err := n.db.transaction(ctx, func(tx *tx) error {
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
		return n.work(ctx)
	})
	return reply, err
}
