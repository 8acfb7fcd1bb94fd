package orders

import (
	"context"
	"net/http"
)

// declineRetriedCharges is declines-some, and does not record the key of what it declines.
//
// A decline is not taken for an answer: its row is committed and its key stays free, so that the retry is executed as if it
// were the first. It makes another row, and charges.
type declineRetriedCharges struct{ uniqueKey }

func declineRetriedChargesDesign() Design {
	promise := exactReplay()
	promise.Errors.Declined = problemSignature(http.StatusPaymentRequired, "declined")
	return Design{
		Name:     "decline-retried-charges",
		Summary:  "declines every fifth reference with a row of the attempt and no record of the key: the retry makes another row, and is placed",
		Contract: promise,
		Key:      requiredKey(),
		Twin:     "declines-some",
		Shows:    []string{"duplicate"},
		By:       []string{"sweep"},
		schema:   []string{ordersTable, stateColumn, keysTable},
		handler: func(a *api) handler {
			return needKey(declineRetriedCharges{newUniqueKey(a)}.create)
		},
	}
}

func (d declineRetriedCharges) create(ctx context.Context, req request) (answer, error) {
	var before int
	err := d.db.queryRow(ctx, `select count(*) from orders where reference = ? and customer = ?`, req.Order.Reference, req.Customer).Scan(&before)
	if err != nil || before > 0 || !unlucky(req.Order.Reference) {
		return d.uniqueKey.create(ctx, req)
	}
	o := newOrder(req)
	err = d.db.transaction(ctx, func(tx *tx) error {
		if err := tx.insertOrder(ctx, o); err != nil {
			return err
		}
		return tx.markDeclined(ctx, o)
	})
	return declined(), err
}
