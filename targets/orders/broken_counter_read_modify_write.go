package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// counterReadModifyWriteDesign reads how much there is, and writes how much will be left.
//
// The number was needed anyway, to refuse orders for what is not there, and one less is easily computed.
// Two orders read a thousand and both write 999. Keys, orders and their number are right, nothing is
// duplicated; the shop has sold two and believes that it sold one. "quantity = quantity - 1" is computed
// by the database, one after the other.
func counterReadModifyWriteDesign() Design {
	return Design{
		Name:     "counter-read-modify-write",
		Summary:  "reads the stock, works, then writes one less than it read: of orders at the same time only one is taken from it",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "order-with-lines",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"distinct-twins", "sequential-replay"},
		effects:  []contract.Effect{stock()},
		schema:   []string{ordersTable, keysTable, stockTable, fullStock},
		handler: func(a *api) handler {
			return needKey(func(ctx context.Context, req request) (answer, error) {
				var quantity int64
				err := a.db.queryRow(ctx, `select coalesce(max(quantity), 0) from stock where item = ?`, req.Order.Item).Scan(&quantity)
				if err != nil {
					return answer{}, err
				}
				u := newUniqueKey(a)
				u.write = writeAndLeave(quantity - 1)
				return u.create(ctx, req)
			})
		},
	}
}

// writeAndLeave writes key and order, and what is left of its item. A quote takes nothing.
func writeAndLeave(left int64) func(context.Context, *tx, request, order, answer) error {
	return func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
		if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil || o.Kind != kindOrder {
			return err
		}
		return tx.exec(ctx, `update stock set quantity = ? where item = ?`, left, o.Item)
	}
}
