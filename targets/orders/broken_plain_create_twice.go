package orders

import "context"

// plainCreateTwice registers the handler of its event twice: each create inserts two orders, which have the same note and
// different ids. No client does anything unusual. A repetition of the key gets the first answer, and makes no further order.
func plainCreateTwiceDesign() Design {
	return Design{
		Name:     "plain-create-twice",
		Summary:  "the handler that inserts the order is registered twice: every plain create makes two",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"plain-create"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.write = writeTwice }),
	}
}

func writeTwice(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
		return err
	}
	return tx.insertOrder(ctx, newOrder(req))
}
