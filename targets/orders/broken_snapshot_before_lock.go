package orders

import "context"

// snapshotBeforeLock looks before it locks, to spare most requests the lock, and looks again afterwards.
//
// Double-checked locking is right where the second look sees what is there. MariaDB's usual isolation is
// "repeatable read": a transaction sees the tables as they were at its first look, and keeps seeing them
// so. The lock makes it wait until the other request has committed; the second look still shows the
// time before. The same code is right on PostgreSQL, and right here with the first look left out, or as
// a look "for update", which always sees the present.
type snapshotBeforeLock struct{ *api }

func snapshotBeforeLockDesign() Design {
	return Design{
		Name:     "snapshot-before-lock",
		Summary:  "looks the key up, locks the customer, looks again in one transaction: under repeatable read the second look shows the past",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "pessimistic-lock",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "tabs-one-key"},
		On:       []string{"mariadb"},
		schema:   []string{ordersTable, keysLoose, keysIndex, customersTable},
		handler:  func(a *api) handler { return needKey(snapshotBeforeLock{a}.create) },
	}
}

func (s snapshotBeforeLock) create(ctx context.Context, req request) (reply answer, err error) {
	err = s.db.retry(ctx, func() error {
		return s.db.transaction(ctx, func(tx *tx) error {
			reply, err = s.lookTwice(ctx, tx, req)
			return err
		})
	})
	return reply, err
}

func (s snapshotBeforeLock) lookTwice(ctx context.Context, tx *tx, req request) (answer, error) {
	reply, err := tx.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	if err := tx.lockCustomer(ctx, req.Customer); err != nil {
		return answer{}, err
	}
	reply, err = tx.knownOrWritten(ctx, req)
	if err != nil {
		return answer{}, err
	}
	return reply, s.work(ctx)
}
