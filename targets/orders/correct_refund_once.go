package orders

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// refunded has the payment for an order taken, finds the shelf empty for every fifth order, and then gives the payment back.
//
// Whoever has the key goes on from the order that is there, and so may several at once. With a key of the refund that follows from the
// order, the service for payments gives the money back once.
type refunded struct {
	*api
	key    func(orderID string) string // of the refund
	orders *atomic.Int64               // whose shelf was looked at
}

func refundOnceDesign() Design {
	return refundedDesign(Design{
		Name:    "refund-once",
		Summary: "has the payment taken and, for every fifth order, whose shelf is empty, given back under the order's id; then declines the order",
		Correct: true,
	}, func(orderID string) string { return "refund-" + orderID })
}

// refundedDesign is a design of refunded with its own key for the refund.
func refundedDesign(d Design, key func(orderID string) string) Design {
	fx := oneCharge()
	fx.Undone = &contract.Where{Method: http.MethodPost, Path: "/refunds"}
	d.Contract, d.Key, d.effects = exactReplay(), requiredKey(), []contract.Effect{fx}
	d.Contract.Errors.Declined = problemSignature(http.StatusPaymentRequired, "sold_out")
	d.schema = []string{
		ordersTable, `alter table orders add column charge varchar(40) not null default ''`, `alter table orders add column shelf integer not null default 0`, keysTable,
	}
	d.describe = func(o *targets.Operation, _ kind) {
		o.Rows.Query += " and charge <> '' and charge <> '" + givenBack + "'"
	}
	d.handler = func(a *api) handler { return needKey((&refunded{a, key, new(atomic.Int64)}).create) }
	return d
}

// givenBack stands in the place of the payment of an order that was declined.
const givenBack = "refunded"

func (d *refunded) create(ctx context.Context, req request) (answer, error) {
	resumes := dependencyResumes{d.api}
	first, err := resumes.begin(ctx, req)
	if err != nil || first.Fingerprint != req.Fingerprint || first.Answer.Status != 0 {
		return first.replayTo(req), err
	}
	o := ordered(req)
	o.ID = first.orderID()
	empty, err := d.reserve(ctx, o.ID)
	if err != nil {
		return answer{}, err
	}
	if err := d.work(ctx); err != nil {
		return answer{}, err
	}
	taken, err := d.outside.charge(ctx, "charge-"+o.ID, o)
	if err != nil {
		return paymentAway(), nil
	}
	if !empty {
		return resumes.complete(ctx, req, o.ID, taken)
	}
	if err := d.outside.refund(ctx, d.key(o.ID), o); err != nil {
		return paymentAway(), nil
	}
	reply := problem(http.StatusPaymentRequired, "sold_out", "the shelf is empty, and the payment was given back")
	err = d.db.retry(ctx, func() error {
		return d.db.transaction(ctx, func(tx *tx) error { return resumes.record(ctx, tx, req, o.ID, charge{ID: givenBack}, reply) })
	})
	return d.recorded(ctx, req, reply, err)
}

// recorded is the answer that was recorded, be it by another request.
func (d *refunded) recorded(ctx context.Context, req request, reply answer, err error) (answer, error) {
	if err != nil {
		if reply, known := d.db.known(ctx, req); known == nil && reply.Status != 0 {
			return reply, nil
		}
	}
	return reply, err
}

// The states of an order's shelf.
const (
	shelfUnknown = 0
	shelfFull    = 1
	shelfEmpty   = 2
)

// reserve looks at the shelf of an order once, and reports whether it was empty.
func (d *refunded) reserve(ctx context.Context, id string) (bool, error) {
	state := shelfFull
	if d.orders.Load()%5 == 4 {
		state = shelfEmpty
	}
	err := d.db.retry(ctx, func() error {
		n, err := d.db.update(ctx, `update orders set shelf = ? where id = ? and shelf = ?`, state, id, shelfUnknown)
		d.orders.Add(n)
		return err
	})
	if err != nil {
		return false, err
	}
	err = d.db.queryRow(ctx, `select shelf from orders where id = ?`, id).Scan(&state)
	return state == shelfEmpty, err
}
