package orders

import (
	"context"
	"sync"
)

// failsAfterOrder is fails-now-and-then with a gateway that gives up later.
//
// The order of such a request is there when the gateway answers 502, and what would have recorded its key is not called any
// more. The retry is taken for the first request, and makes another order.
type failsAfterOrder struct {
	uniqueKey
	failed *sync.Map // references that it has answered so
}

func failsAfterOrderDesign() Design {
	return Design{
		Name:     "fails-after-order",
		Summary:  "answers 502 to the first request for every fifth reference, when its order is there and its key is not recorded: the retry makes another order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "fails-now-and-then",
		Shows:    []string{"duplicate"},
		By:       []string{"sweep"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(failsAfterOrder{newUniqueKey(a), &sync.Map{}}.create)
		},
	}
}

func (f failsAfterOrder) create(ctx context.Context, req request) (answer, error) {
	if unlucky(req.Order.Reference) {
		if _, again := f.failed.LoadOrStore(req.Order.Reference, true); !again {
			return badGateway(), f.db.insertOrder(ctx, newOrder(req))
		}
	}
	return f.uniqueKey.create(ctx, req)
}
