package orders

import (
	"context"
	"net/http"
	"sync"
)

// failsNowAndThen is unique-key behind a gateway that fails now and then, before anything has happened.
//
// It answers 502 to the first request for every fifth reference. Nothing is recorded of that, so that the retry is the
// first request.
type failsNowAndThen struct {
	uniqueKey
	failed *sync.Map // references that it has answered so
}

func failsNowAndThenDesign() Design {
	return Design{
		Name:     "fails-now-and-then",
		Summary:  "answers 502 to the first request for every fifth reference, before anything has happened: a retry makes the order",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(failsNowAndThen{newUniqueKey(a), &sync.Map{}}.create)
		},
	}
}

func (f failsNowAndThen) create(ctx context.Context, req request) (answer, error) {
	if unlucky(req.Order.Reference) {
		if _, again := f.failed.LoadOrStore(req.Order.Reference, true); !again {
			return badGateway(), nil
		}
	}
	return f.uniqueKey.create(ctx, req)
}

func badGateway() answer {
	return problem(http.StatusBadGateway, "bad_gateway", "what stands behind the gateway did not answer")
}
