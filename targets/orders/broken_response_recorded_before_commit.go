package orders

import "context"

// responseRecordedBeforeCommit records the answer first, and then does what it says.
//
// The order's id is drawn by the server, so the answer is known before the order is made, and with the
// record the key is taken at once: a duplicate has nothing to wait for. But it is a record of what is
// to come. If that fails, as it does when the client leaves and the context of its request ends, the
// order is rolled back and the record stays. The client that comes back is shown a 201 and an order
// that nobody made.
type responseRecordedBeforeCommit struct{ uniqueKey }

func responseRecordedBeforeCommitDesign() Design {
	return Design{
		Name:     "response-recorded-before-commit",
		Summary:  "records the 201 before the order is committed: if that fails, a repeat is told of an order that does not exist",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"slow-road", "impatient-retry", "database-cut"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(responseRecordedBeforeCommit{newUniqueKey(a)}.create)
		},
	}
}

func (r responseRecordedBeforeCommit) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	detached := context.WithoutCancel(ctx)
	err := r.db.retry(detached, func() error { return r.db.insertKey(detached, req, reply) })
	if isDuplicate(err) {
		return r.repeat(ctx, req)
	}
	if err != nil {
		return answer{}, err
	}
	return reply, r.db.retry(ctx, func() error { return r.placeOrder(ctx, o) })
}

// placeOrder makes the order if its payment is authorised.
func (a *api) placeOrder(ctx context.Context, o order) error {
	return a.db.transaction(ctx, func(tx *tx) error {
		if err := tx.insertOrder(ctx, o); err != nil {
			return err
		}
		return a.work(ctx)
	})
}
