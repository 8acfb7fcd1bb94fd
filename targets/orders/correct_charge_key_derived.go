package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/targets"
)

// charged commits an unpaid order with its key, has the payment taken by a service outside, and then completes the order.
//
// Whoever has the key goes on from the order that is there. What differs between designs is the key under which the payment is
// asked for: with one that follows from the order, or from the client's key, the service knows the second request for what it is.
type charged struct {
	*api
	key func(req request, orderID string) string // for the payment
	pay func(ctx context.Context, key string, o order) (charge, error)
}

func chargeKeyDerivedDesign() Design {
	return chargedDesign(Design{
		Name:    "charge-key-derived",
		Summary: "commits an unpaid order with its key, then has the payment taken under the order's id: whoever comes again asks with the same key",
		Correct: true,
	}, func(_ request, orderID string) string { return "charge-" + orderID })
}

// chargedDesign is a design of charged with its own key for the payment.
func chargedDesign(d Design, key func(req request, orderID string) string) Design {
	d.Contract, d.Key, d.effects = exactReplay(), requiredKey(), append(d.effects, oneCharge())
	d.schema = []string{ordersTable, `alter table orders add column charge varchar(40) not null default ''`, keysTable}
	d.describe = func(o *targets.Operation, _ kind) { o.Rows.Query += " and charge <> ''" }
	d.handler = func(a *api) handler { return needKey(charged{a, key, a.outside.charge}.create) }
	return d
}

func (d charged) create(ctx context.Context, req request) (answer, error) {
	resumes := dependencyResumes{d.api}
	first, err := resumes.begin(ctx, req)
	if err != nil || first.Fingerprint != req.Fingerprint || first.Answer.Status != 0 {
		return first.replayTo(req), err
	}
	if err := d.work(ctx); err != nil {
		return answer{}, err
	}
	o := ordered(req)
	o.ID = first.orderID()
	taken, err := d.pay(ctx, d.key(req, o.ID), o)
	if err != nil {
		return paymentAway(), nil
	}
	return resumes.complete(ctx, req, first.orderID(), taken)
}

func paymentAway() answer {
	return problem(http.StatusServiceUnavailable, "payment_away", "the order is not paid for yet; try again")
}
