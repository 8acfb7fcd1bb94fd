package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// maxPlusOneNumberDesign numbers its orders without a gap: the greatest number, and one more.
//
// The tax office wants no gaps, a sequence leaves some, and so the next number is asked for. Who asks at
// the same time is told the same. The key guards each order against its own repeat and knows nothing of
// other orders; two customers get one number, and each has an invoice that says so.
func maxPlusOneNumberDesign() Design {
	return Design{
		Name:     "max-plus-one-number",
		Summary:  "numbers an order with max(number) + 1, no unique index: orders at the same time get the same number",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "numbered",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"distinct-twins", "sequential-replay"},
		effects:  []contract.Effect{bearers()},
		schema:   []string{ordersTable, `alter table orders add column number bigint not null default 0`, keysTable},
		handler: func(a *api) handler {
			return needKey(func(ctx context.Context, req request) (answer, error) {
				var number int64
				err := a.db.queryRow(ctx, `select coalesce(max(number), 0) + 1 from orders`).Scan(&number)
				if err != nil {
					return answer{}, err
				}
				u := newUniqueKey(a)
				u.write = writeNumbered(number)
				return u.create(ctx, req)
			})
		},
	}
}

// bearers are the orders that bear the number of one: itself.
func bearers() contract.Effect {
	return contract.Effect{
		Name: "bearers",
		Query: `select id from orders where kind = 'order' and number in
			(select number from orders where note = :marker and kind = 'order')`,
		Rows: new(1),
	}
}

func writeNumbered(number int64) func(context.Context, *tx, request, order, answer) error {
	return func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
		if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
			return err
		}
		return tx.exec(ctx, `update orders set number = ? where id = ?`, number, o.ID)
	}
}
