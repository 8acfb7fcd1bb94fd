package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// retryRereadsVersionDesign relies on a version that it reads anew for every request.
//
// The stock has a version, and the goods are taken only where it is what was read before: whoever
// repeats an update has an old version and is refused. So this step may run again, and it does, for a
// replay as well, in case the first request did not get so far. But the version does not come with
// the request. The server reads it, and what it reads is never old: each repeat takes the goods again,
// in perfect order.
func retryRereadsVersionDesign() Design {
	return Design{
		Name:     "retry-rereads-version",
		Summary:  "trusts a version to refuse a repeat, and reads it anew for each request: a repeat makes no second order, but takes the goods again",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "order-with-lines",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"sequential-replay", "withheld-answer", "burst-same-key"},
		effects:  []contract.Effect{stock()},
		schema:   []string{ordersTable, keysTable, stockTable, fullStock, stockHasVersion},
		handler: func(a *api) handler {
			next := needKey(newUniqueKey(a).create)
			return func(ctx context.Context, req request) (answer, error) {
				reply, err := next(ctx, req)
				if err != nil || reply.Status != http.StatusCreated || req.Kind != kindOrder {
					return reply, err
				}
				return reply, a.take(context.WithoutCancel(ctx), req.Order.Item)
			}
		},
	}
}

// take takes one of an item, again and again until no other request came in between.
func (a *api) take(ctx context.Context, item string) error {
	for {
		version, err := a.db.stockVersion(ctx, item)
		if err != nil {
			return err
		}
		taken, err := a.db.takeAtVersion(ctx, item, version)
		if err != nil || taken {
			return err
		}
	}
}

const stockHasVersion = `alter table stock add column version bigint not null default 1`

func (q queries) stockVersion(ctx context.Context, item string) (int64, error) {
	var version int64
	err := q.queryRow(ctx, `select version from stock where item = ?`, item).Scan(&version)
	return version, err
}

// takeAtVersion takes one of an item, unless its stock has changed since it had this version.
func (q queries) takeAtVersion(ctx context.Context, item string, version int64) (taken bool, err error) {
	matched, err := q.update(ctx, `update stock set quantity = quantity - 1, version = version + 1
		where item = ? and version = ?`, item, version)
	return matched == 1, err
}
