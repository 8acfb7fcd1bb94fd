package orders

import "context"

// optimisticZeroRowsSuccess takes "no row was updated" for "it was done already".
//
// The stock has a version. A request reads it, authorises the payment, and takes the goods only where
// the version is still the same, in one transaction with order and key. If no row matches, the stock
// was changed in the meantime, and who but a retry of this very request would have changed it? Any
// other customer. Two who order lamps at the same time are both told 201, and one order is made.
type optimisticZeroRowsSuccess struct{ uniqueKey }

func optimisticZeroRowsSuccessDesign() Design {
	return Design{
		Name:     "optimistic-zero-rows-success",
		Summary:  "takes another customer's change of the stock for its own first try: of two who order at once, one is told of an order that is not made",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"distinct-twins", "read-after-create", "burst-under-load"},
		schema:   []string{ordersTable, keysTable, stockTable, fullStock, stockHasVersion},
		handler:  func(a *api) handler { return needKey(optimisticZeroRowsSuccess{newUniqueKey(a)}.create) },
	}
}

const stockHasVersion = `alter table stock add column version bigint not null default 1`

func (z optimisticZeroRowsSuccess) create(ctx context.Context, req request) (answer, error) {
	version, err := z.db.stockVersion(ctx, req.Order.Item)
	if err != nil {
		return answer{}, err
	}
	if err := z.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err = z.db.retry(ctx, func() error {
		return z.db.transaction(ctx, func(tx *tx) error {
			if err := tx.insertKey(ctx, req, reply); err != nil {
				return err
			}
			return tx.insertOrderAtVersion(ctx, o, version)
		})
	})
	if isDuplicate(err) {
		return z.repeat(ctx, req)
	}
	return reply, err
}

// insertOrderAtVersion takes the goods and makes the order. A quote takes nothing.
func (q queries) insertOrderAtVersion(ctx context.Context, o order, version int64) error {
	if o.Kind == kindOrder {
		taken, err := q.takeAtVersion(ctx, o.Item, version)
		if err != nil || !taken {
			return err
		}
	}
	return q.insertOrder(ctx, o)
}

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
