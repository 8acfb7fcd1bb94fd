package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// resumeToCompletion commits the order before the payment as well, and says of each row how far it got.
//
// An order is pending at first, and counts for nothing. Who comes with its key, the first time or again,
// does what is left to do: authorises, and confirms. That step has a guard in its statement, "where state
// is pending": of several that resume the same order one matches the row, and only this one takes the
// goods from the stock. All give the same answer, which was recorded with the key. A client that leaves in the
// middle leaves a pending order, and the retry brings it to its end.
type resumeToCompletion struct{ *api }

func resumeToCompletionDesign() Design {
	return Design{
		Name:     "resume-to-completion",
		Summary:  "commits a pending order with its key, and whoever has the key completes it: a guard on the state lets one of them confirm",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		effects:  []contract.Effect{stock()},
		schema: []string{
			ordersTable, `alter table orders add column state varchar(10) not null default 'pending'`,
			keysTable, stockTable, fullStock,
		},
		handler:  func(a *api) handler { return needKey(resumeToCompletion{a}.create) },
		describe: func(o *targets.Operation, _ kind) { o.Rows.Query += " and state = 'confirmed'" },
	}
}

func (r resumeToCompletion) create(ctx context.Context, req request) (answer, error) {
	first, err := r.begin(ctx, req)
	if err != nil || first.Fingerprint != req.Fingerprint {
		return first.replayTo(req), err
	}
	var state string
	err = r.db.queryRow(ctx, `select state from orders where id = ?`, first.orderID()).Scan(&state)
	if err != nil || state == "confirmed" {
		return first.Answer, err
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	return first.Answer, r.confirm(ctx, req, first.orderID())
}

// begin makes the pending order with its key, or finds what another request has made.
func (r resumeToCompletion) begin(ctx context.Context, req request) (first record, err error) {
	err = r.db.retry(ctx, func() error {
		err := r.db.transaction(ctx, func(tx *tx) (err error) {
			first.Fingerprint = req.Fingerprint
			first.Answer, err = tx.written(ctx, req)
			return err
		})
		if isDuplicate(err) {
			first, err = r.db.recordOf(ctx, req.Key)
		}
		return err
	})
	return first, err
}

// confirm is the order's step from pending to confirmed, which is done once.
func (r resumeToCompletion) confirm(ctx context.Context, req request, id string) error {
	return r.db.retry(ctx, func() error {
		return r.db.transaction(ctx, func(tx *tx) error {
			stepped, err := tx.update(ctx, `update orders set state = 'confirmed' where id = ? and state = 'pending'`, id)
			if err != nil || stepped == 0 {
				return err
			}
			return tx.takeFromStock(ctx, req.Kind, req.Order.Item)
		})
	})
}
