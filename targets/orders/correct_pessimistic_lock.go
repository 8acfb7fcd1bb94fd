package orders

import "context"

// pessimisticLock locks the customer, then looks the key up, then writes.
//
// The order of these is all there is to it: a request that gets the lock looks again, because the one before
// may have written the key. The lock is a row's and ends with the transaction, so that no request gets it
// before what it protected is committed, and a dead client does not keep it. Two orders of one customer take
// turns, those of two customers do not; and the payment is authorised before, to keep the turns short.
type pessimisticLock struct{ *api }

func pessimisticLockDesign() Design {
	return Design{
		Name:     "pessimistic-lock",
		Summary:  "locks the customer's row, looks the key up again and writes: requests of a customer take turns, no unique index",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysLoose, keysIndex, customersTable},
		handler:  func(a *api) handler { return needKey(pessimisticLock{a}.create) },
	}
}

func (p pessimisticLock) create(ctx context.Context, req request) (answer, error) {
	reply, err := p.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	if err := p.work(ctx); err != nil {
		return answer{}, err
	}
	err = p.db.retry(ctx, func() error {
		return p.db.transaction(ctx, func(tx *tx) error {
			if err := tx.lockCustomer(ctx, req.Customer); err != nil {
				return err
			}
			reply, err = tx.knownOrWritten(ctx, req)
			return err
		})
	})
	return reply, err
}
