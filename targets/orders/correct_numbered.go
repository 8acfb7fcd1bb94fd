package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// numberedDesign numbers orders without a gap. The row that counts them is raised in the order's transaction, so that orders at
// the same time take turns there, and each sees its own number. One that is rolled back gives its number back.
func numberedDesign() Design {
	return Design{
		Name:     "numbered",
		Summary:  "numbers orders by a row that is raised in the order's transaction: orders at the same time take turns",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		effects:  []contract.Effect{bearers()},
		schema: []string{
			ordersTable, `alter table orders add column number bigint not null default 0`, keysTable,
			`create table numbers (last bigint not null)`, `insert into numbers (last) values (0)`,
		},
		handler: varied(func(_ *api, p *parts) { p.write = writeNextNumber }),
	}
}

func writeNextNumber(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
		return err
	}
	if err := tx.exec(ctx, `update numbers set last = last + 1`); err != nil {
		return err
	}
	return tx.exec(ctx, `update orders set number = (select last from numbers) where id = ?`, o.ID)
}
