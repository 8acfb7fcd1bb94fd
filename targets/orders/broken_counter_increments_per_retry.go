package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// counterIncrementsPerRetryDesign takes the goods from the stock before it looks at the key.
//
// The stock is asked first, because an order for what is not there needs no key. But it is asked by
// every request, and what a repeat takes is never given back, nor is what a request took that failed
// afterwards. The orders are right, and the stock runs out.
func counterIncrementsPerRetryDesign() Design {
	return Design{
		Name:     "counter-increments-per-retry",
		Summary:  "takes from the stock before it looks at the key: a repeat makes no second order, but takes the goods again",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "order-with-lines",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"sequential-replay", "withheld-answer"},
		effects:  []contract.Effect{stock()},
		schema:   []string{ordersTable, keysTable, stockTable, fullStock},
		handler: func(a *api) handler {
			next := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				err := a.db.retry(ctx, func() error { return a.db.takeFromStock(ctx, req.Kind, req.Order.Item) })
				if err != nil {
					return answer{}, err
				}
				return next(ctx, req)
			})
		},
	}
}
