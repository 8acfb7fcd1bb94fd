package orders

import "context"

// refusalKeptDesign answers a key once, whatever the answer is. A refused amount is recorded under the key like an order:
// the same request is refused again, and the corrected one is another body. Who corrects an order takes a new key.
func refusalKeptDesign() Design {
	return Design{
		Name:     "refusal-kept",
		Summary:  "records the 400 to an amount below 1 under the key, and promises so: the refusal comes again, and the corrected order takes a new key",
		Correct:  true,
		Contract: storing4xx(true),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		read:     readAnyRequest,
		handler:  varied(func(_ *api, p *parts) { keepRefusals(p) }),
	}
}

// keepRefusals records refused amounts.
func keepRefusals(p *parts) {
	p.tell = func(o order) answer {
		if checkAmount(o.Amount, "amount") != nil {
			return refusedAmount()
		}
		return created(o)
	}
	p.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
		if checkAmount(o.Amount, "amount") != nil {
			return tx.insertKey(ctx, req, reply)
		}
		return writeKeyAndOrder(ctx, tx, req, o, reply)
	}
}
