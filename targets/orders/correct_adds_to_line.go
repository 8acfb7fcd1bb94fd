package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets"
)

// addsToLine is the line of a cart: the first request makes it, and each later one adds its amount to it.
//
// One row stands for several requests, each with a key of its own, so that the number of rows says nothing: the amount
// does. The record of the key is written in the transaction that adds. A repetition waits for the line, is refused by the
// index of the keys, and takes back what it has added.
type addsToLine struct{ *api }

// lineIndex makes a note the name of one line of one customer.
const lineIndex = `create unique index orders_line on orders (customer, kind, note)`

func addsToLineDesign() Design {
	return Design{
		Name:     "adds-to-line",
		Summary:  "adds to the line that has the note, or makes it, and writes the key in the same transaction: one row for several requests",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, lineIndex, keysTable},
		handler:  func(a *api) handler { return needKey(addsToLine{a}.create) },
		describe: describeSum,
	}
}

// describeSum says that the amount is a sum.
func describeSum(o *targets.Operation, _ kind) { o.Rows.Adds = "amount" }

func (l addsToLine) create(ctx context.Context, req request) (answer, error) {
	var reply answer
	err := l.db.retry(ctx, func() error {
		err := l.db.transaction(ctx, func(tx *tx) error {
			o, err := tx.addToLine(ctx, req)
			if err != nil {
				return err
			}
			reply = created(o)
			if err := tx.insertKey(ctx, req, reply); err != nil {
				return err
			}
			return l.work(ctx)
		})
		if isDuplicate(err) {
			reply, err = l.db.known(ctx, req)
		}
		return err
	})
	return reply, err
}

// addToLine adds the amount to the line, or makes it. The order is what the request asked for, under the id of the line.
func (q queries) addToLine(ctx context.Context, req request) (order, error) {
	o, added := newOrder(req), "excluded.amount"
	if q.dialect == dialectMariaDB {
		added = "values(amount)"
	}
	if err := q.exec(ctx, insertOrder+q.onConflict("customer, kind, note", "amount = orders.amount + "+added), o.columns()...); err != nil {
		return order{}, err
	}
	line, err := q.orderWhere(ctx, "customer = ? and kind = ? and note = ?", o.Customer, o.Kind, o.Note)
	o.ID = line.ID
	return o, err
}
