package orders

import "context"

// mismatchOverwritesDesign saves: what the key does not know yet is inserted, what it knows is updated.
//
// An upsert on the key makes one order per key and needs no branch for a repeat, because writing the
// same values again changes nothing. Other values do. The first client was told that its order is for
// 1200; then the order is for 9900, and nothing says that it ever was otherwise.
func mismatchOverwritesDesign() Design {
	return Design{
		Name:     "mismatch-overwrites",
		Summary:  "upserts by the key: another body with a used key overwrites the order that was acknowledged",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write", "altered-body-violation"},
		By:       []string{"altered-after", "altered-race"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(a *api, p *parts) { p.replay = a.overwrite }),
	}
}

func (a *api) overwrite(ctx context.Context, first record, req request) (answer, error) {
	var reply answer
	err := a.db.transaction(ctx, func(tx *tx) error {
		o, err := tx.orderWhere(ctx, "id = ?", first.orderID())
		if err != nil {
			return err
		}
		o.Note, o.Reference, o.Item, o.Amount = req.Order.Note, req.Order.Reference, req.Order.Item, req.Order.Amount
		reply = created(o)
		return tx.exec(ctx, `update orders set note = ?, reference = ?, item = ?, amount = ? where id = ?`,
			o.Note, o.Reference, o.Item, o.Amount, o.ID)
	})
	return reply, err
}
