package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// saga commits an unfinished order with its key, and then takes two steps at services outside: it has the payment taken, and a parcel sent.
//
// How far it has come is nowhere. Whoever comes again takes both steps again, each under its own key, which follows from the order:
// to the services that is one payment and one parcel.
type saga struct {
	*api
	parcel func(orderID string) string // key of the second step; empty: none
}

func sagaStepsKeyedDesign() Design {
	return sagaDesign(Design{
		Name:    "saga-steps-keyed",
		Summary: "commits an unfinished order with its key, has the payment taken and a parcel sent, each under the order's id and the step's name, then completes the order",
		Correct: true,
	}, func(orderID string) string { return orderID + "-parcel" })
}

// sagaDesign is a design of saga with its own key for the parcel.
func sagaDesign(d Design, parcel func(orderID string) string) Design {
	charged, sent := oneCharge(), oneParcel()
	charged.Seen, sent.Seen = partners, partners
	d.Contract, d.Key, d.effects = exactReplay(), requiredKey(), []contract.Effect{charged, sent}
	d.schema = []string{ordersTable, `alter table orders add column charge varchar(40) not null default ''`, keysTable}
	d.describe = func(o *targets.Operation, _ kind) { o.Rows.Query += " and charge <> ''" }
	d.handler = func(a *api) handler { return needKey(saga{a, parcel}.create) }
	return d
}

func (d saga) create(ctx context.Context, req request) (answer, error) {
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
	taken, err := d.outside.charge(ctx, o.ID+"-charge", o)
	if err != nil {
		return paymentAway(), nil
	}
	if err := d.outside.shipOnce(ctx, d.parcel(o.ID), o); err != nil {
		return problem(http.StatusServiceUnavailable, "shipping_away", "the parcel is not on its way yet; try again"), nil
	}
	return resumes.complete(ctx, req, o.ID, taken)
}
