package orders

import "context"

// refusalLeavesRow is refusal-forgotten without the transaction.
//
// The order is written first, and looked at afterwards. The refusal takes back the key, which was never written, and
// not the order: each time that the form is sent with its mistake there is one more that nobody has ordered.
type refusalLeavesRow struct{ uniqueKey }

func refusalLeavesRowDesign() Design {
	return Design{
		Name:     "refusal-leaves-row",
		Summary:  "writes the order, then refuses an amount below 1 with 400 and leaves the order there",
		Contract: storing4xx(false),
		Key:      requiredKey(),
		Twin:     "refusal-forgotten",
		Shows:    []string{"phantom-row"},
		By:       []string{"corrected-after-refusal"},
		schema:   []string{ordersTable, keysTable},
		read:     readAnyRequest,
		handler:  func(a *api) handler { return needKey(refusalLeavesRow{newUniqueKey(a)}.create) },
	}
}

func (r refusalLeavesRow) create(ctx context.Context, req request) (answer, error) {
	if checkAmount(req.Order.Amount, "amount") == nil {
		return r.uniqueKey.create(ctx, req)
	}
	err := r.db.retry(ctx, func() error { return r.db.insertOrder(ctx, newOrder(req)) })
	return refusedAmount(), err
}
