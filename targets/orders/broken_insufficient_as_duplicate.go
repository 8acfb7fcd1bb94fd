package orders

import "context"

// insufficientAsDuplicateDesign takes "there is nothing left" for "I have had it already".
//
// The stock is taken in one statement that never goes below zero, in one transaction with the order.
// If it takes nothing, the last lamp has gone to the first try of this very request: so it was in the
// test, which had one lamp and clicked twice. In the shop it has gone to somebody else. The customer is
// told 201, and there is neither a lamp nor an order.
func insufficientAsDuplicateDesign() Design {
	return Design{
		Name:     "insufficient-as-duplicate",
		Summary:  "takes an empty stock for the trace of its own first try: who comes too late for the last lamp is told of an order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"read-after-create", "burst-under-load"},
		schema:   []string{ordersTable, keysTable, stockTable, `insert into stock (item, quantity) values ('lamp', 12)`},
		handler:  varied(func(_ *api, p *parts) { p.write = writeWhileStocksLast }),
	}
}

func writeWhileStocksLast(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := tx.insertKey(ctx, req, reply); err != nil {
		return err
	}
	if req.Kind == kindOrder {
		taken, err := tx.update(ctx, `update stock set quantity = quantity - 1 where item = ? and quantity > 0`, o.Item)
		if err != nil || taken == 0 {
			return err
		}
	}
	return tx.insertOrder(ctx, o)
}
