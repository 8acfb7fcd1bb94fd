package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// optionalKeyDesign is uniqueKey for requests with a key. To others it promises nothing, and keeps
// it: each of their requests makes an order.
func optionalKeyDesign() Design {
	promise := exactReplay()
	promise.MissingKey = contract.Signature{}
	return Design{
		Name:     "optional-key",
		Summary:  "takes requests with and without a key: with one like unique-key, without one each request makes an order",
		Correct:  true,
		Contract: promise,
		Key:      targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: keyHeader}},
		schema:   []string{ordersTable, keysTable},
		handler:  keyOrNot,
	}
}

func keyOrNot(a *api) handler {
	keyed := needKey(newUniqueKey(a).create)
	return func(ctx context.Context, req request) (answer, error) {
		if req.RawKey == "" {
			return a.createWithoutKey(ctx, req)
		}
		return keyed(ctx, req)
	}
}

func (a *api) createWithoutKey(ctx context.Context, req request) (answer, error) {
	if err := a.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	err := a.db.retry(ctx, func() error { return a.db.insertOrder(ctx, o) })
	return created(o), err
}
