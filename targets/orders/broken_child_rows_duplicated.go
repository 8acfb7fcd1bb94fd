package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// childRowsDuplicatedDesign guards the order and not its lines.
//
// "Find the order or create it, then save its lines" is one line in many frameworks. The first half
// knows the key. The second half is run by a repeat as well: one order, and each retry ships
// everything once more.
func childRowsDuplicatedDesign() Design {
	return Design{
		Name:     "child-rows-duplicated",
		Summary:  "finds or creates the order and adds its lines either way: a repeat makes no second order, but the lines again",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "order-with-lines",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"sequential-replay", "withheld-answer"},
		effects:  []contract.Effect{lines()},
		schema:   []string{ordersTable, keysTable, linesTable},
		handler: varied(func(a *api, p *parts) {
			p.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
				if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
					return err
				}
				return tx.insertLines(ctx, o.Kind, o.ID, o.Item)
			}
			p.replay = func(ctx context.Context, first record, req request) (answer, error) {
				if first.Fingerprint != req.Fingerprint {
					return keyReused(), nil
				}
				return first.Answer, a.db.insertLines(ctx, req.Kind, first.orderID(), req.Order.Item)
			}
		}),
	}
}
