package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// orderWithLinesDesign writes an order's lines and the change of the stock in the transaction that
// writes the order and its key: all of it once, or nothing.
func orderWithLinesDesign() Design {
	return Design{
		Name:     "order-with-lines",
		Summary:  "order, two lines, the change of the stock and the key in one transaction",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		effects:  []contract.Effect{lines(), stock()},
		schema:   []string{ordersTable, keysTable, linesTable, stockTable, fullStock},
		handler:  varied(func(_ *api, p *parts) { p.write = writeWithLines }),
	}
}

func writeWithLines(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
		return err
	}
	if err := tx.insertLines(ctx, o.Kind, o.ID, o.Item); err != nil {
		return err
	}
	return tx.takeFromStock(ctx, o.Kind, o.Item)
}
