package orders

import (
	"context"
	"net/http"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// mailAtMostOnceDesign commits the order, then notes that its receipt is sent, and sends it.
//
// Only the request that sets the flag sends, and never again: a receipt may be missing, and there are never two.
func mailAtMostOnceDesign() Design {
	return flaggedMailDesign(Design{
		Name:    "mail-at-most-once",
		Summary: "commits the order, then sets its flag that the receipt was mailed, and mails it if that was the first time: never twice",
		Correct: true,
	}, func(a *api, o order) {
		_ = a.outside.receipt(context.Background(), o.ID, o) // an alarm, and a person sends it
	})
}

// flaggedMailDesign is a design that sends the receipt in its own way, behind the first 201 that finds the order without its flag.
func flaggedMailDesign(d Design, send func(a *api, o order)) Design {
	once := oneReceipt()
	once.Delivery, once.Within = contract.SentAtMostOnce, contract.Duration(time.Second)
	d.Contract, d.Key, d.effects = exactReplay(), requiredKey(), []contract.Effect{once}
	d.schema = []string{ordersTable, `alter table orders add column mailed integer not null default 0`, keysTable}
	d.handler = afterCreate(func(a *api, o order) {
		var n int64
		err := a.db.retry(context.Background(), func() (err error) {
			n, err = a.db.update(context.Background(), `update orders set mailed = 1 where id = ? and mailed = 0`, o.ID)
			return err
		})
		if err == nil && n > 0 {
			send(a, o)
		}
	})
	return d
}

// afterCreate makes orders as uniqueKey does, and does something behind each 201, which may be a replay.
func afterCreate(then func(a *api, o order)) func(*api) handler {
	return func(a *api) handler {
		next := newUniqueKey(a).create
		return needKey(func(ctx context.Context, req request) (answer, error) {
			reply, err := next(ctx, req)
			if err == nil && reply.Status == http.StatusCreated {
				o := ordered(req)
				o.ID = record{Answer: reply}.orderID()
				then(a, o)
			}
			return reply, err
		})
	}
}
