package orders

import (
	"context"
	"net/http"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// conflictSwallowedWrongConstraint takes every refusal of a unique index for a repeat.
//
// The order's id is made of the key, so that the primary key refuses a second order, and a refusal
// means that the order exists: its id is known, and the answer is the same. That was true while there
// was one unique index. Then orders got a number to read out on the telephone, made of the time of
// day, and an index that keeps numbers unique. Two customers who order within the same hundredth of a
// second get the same number, one of them is refused, and told that the order exists.
type conflictSwallowedWrongConstraint struct{ *api }

func conflictSwallowedWrongConstraintDesign() Design {
	promise := loose()
	promise.Replay.Body = contract.SameIdentity
	return Design{
		Name:     "conflict-swallowed-wrong-constraint",
		Summary:  "takes any refusal of a unique index for a repeat, also that of the order's number: a new order is acknowledged and not made",
		Contract: promise,
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"distinct-twins", "read-after-create", "burst-under-load"},
		schema: []string{ordersTable, `alter table orders add column number bigint`,
			`create unique index orders_number on orders (kind, number)`},
		handler: func(a *api) handler { return needKey(conflictSwallowedWrongConstraint{a}.create) },
	}
}

func (c conflictSwallowedWrongConstraint) create(ctx context.Context, req request) (answer, error) {
	if err := c.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	o.ID = string(o.Kind[:3]) + "_" + hash([]byte(req.Key))[:32]
	err := c.db.retry(ctx, func() error {
		return c.db.transaction(ctx, func(tx *tx) error {
			if err := tx.insertOrder(ctx, o); err != nil {
				return err
			}
			return tx.exec(ctx, `update orders set number = ? where id = ?`, orderNumber(), o.ID)
		})
	})
	if isDuplicate(err) {
		err = nil // the order exists
	}
	return jsonAnswer(http.StatusCreated, map[string]string{"id": o.ID}).with("Location", o.location()), err
}

// orderNumber counts the hundredths of a second.
func orderNumber() int64 { return time.Now().UnixMilli() / 10 }
