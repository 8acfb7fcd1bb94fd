package orders

import "context"

// optimisticZeroRowsSuccess is optimistic-version, and takes "no row updated" for "done already".
//
// If the version is not what it was, this very request must have raised it on its first try: so it was
// explained, and for a repeat it is true. But any other order of the customer raises it as well. Two
// tabs with two orders: both are told 201, and one of them has nothing. The order that was promised is
// in no table, and its id was made up.
type optimisticZeroRowsSuccess struct{ *api }

func optimisticZeroRowsSuccessDesign() Design {
	return Design{
		Name:     "optimistic-zero-rows-success",
		Summary:  "raises the customer's version with the write and takes a changed one for a repeat: other orders of the customer are lost",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write", "replay-mismatch"},
		By:       []string{"distinct-twins", "sequential-replay"},
		schema:   []string{ordersTable, keysTable, customersTable},
		handler:  func(a *api) handler { return needKey(optimisticZeroRowsSuccess{a}.create) },
	}
}

func (z optimisticZeroRowsSuccess) create(ctx context.Context, req request) (answer, error) {
	reply, err := z.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	version, err := z.db.versionOf(ctx, req.Customer)
	if err != nil {
		return answer{}, err
	}
	if err := z.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply = created(o)
	err = z.db.transaction(ctx, func(tx *tx) error {
		raised, err := tx.raiseVersion(ctx, req.Customer, version)
		if err != nil || !raised {
			return err
		}
		return writeKeyAndOrder(ctx, tx, req, o, reply)
	})
	return reply, err
}
