package orders

import (
	"context"
	"errors"
	"net/http"

	"github.com/doubletap-harness/doubletap/targets"
)

// dependencyResumes commits how far it has got before it asks the other service, and goes on from there.
//
// The first transaction holds the order, which is not paid for and counts for nothing, and the key, which knows the
// order and has no answer yet. Then the payment is taken, under the order's id: the id was there before, so that
// a client that asks again, because the answer was lost, asks for the same payment. The second transaction makes the
// order a paid one and records the answer; its guard "where charge is none" lets one do so, and all others
// read what that one has recorded. A service that is away is answered with 503, and nothing is recorded of that: who
// comes again finds the order and does what is left.
type dependencyResumes struct{ *api }

func dependencyResumesDesign() Design {
	return Design{
		Name:       "dependency-resumes",
		Summary:    "commits an unpaid order with its key, takes the payment under the order's id, then records the answer: whoever has the key goes on from there",
		Correct:    true,
		Contract:   exactReplay(),
		Key:        requiredKey(),
		Dependency: true,
		schema: []string{
			ordersTable, `alter table orders add column charge varchar(40) not null default ''`, keysTable,
		},
		handler:  func(a *api) handler { return needKey(dependencyResumes{a}.create) },
		describe: func(o *targets.Operation, _ kind) { o.Rows.Query += " and charge <> ''" },
	}
}

func (d dependencyResumes) create(ctx context.Context, req request) (answer, error) {
	first, err := d.begin(ctx, req)
	if err != nil || first.Fingerprint != req.Fingerprint || first.Answer.Status != 0 {
		return first.replayTo(req), err
	}
	if err := d.work(ctx); err != nil {
		return answer{}, err
	}
	taken, err := d.dependency.charge(ctx, first.orderID())
	if err != nil {
		return problem(http.StatusServiceUnavailable, "payment_away", "the order is not paid for yet; try again"), nil
	}
	return d.complete(ctx, req, first.orderID(), taken)
}

// begin makes the unpaid order with its key, or finds what another request has made.
func (d dependencyResumes) begin(ctx context.Context, req request) (record, error) {
	o := newOrder(req)
	first := record{Fingerprint: req.Fingerprint, Answer: answer{}.with("Location", o.location())}
	err := d.db.retry(ctx, func() error {
		return d.db.transaction(ctx, func(tx *tx) error { return writeKeyAndOrder(ctx, tx, req, o, first.Answer) })
	})
	if isDuplicate(err) {
		return d.db.recordOf(ctx, req.Key)
	}
	return first, err
}

// errCompleted says that another request was faster.
var errCompleted = errors.New("the order was completed by another request")

// complete makes the order a paid one and records the answer, once, and returns what was recorded.
func (d dependencyResumes) complete(ctx context.Context, req request, id string, taken charge) (answer, error) {
	o, err := d.db.orderWhere(ctx, "id = ?", id)
	if err != nil {
		return answer{}, err
	}
	reply := jsonAnswer(http.StatusCreated, struct {
		order
		Charge string `json:"charge"`
	}{o, taken.ID}).with("Location", o.location())
	err = d.db.retry(ctx, func() error {
		return d.db.transaction(ctx, func(tx *tx) error { return d.record(ctx, tx, req, id, taken, reply) })
	})
	if errors.Is(err, errCompleted) {
		return d.db.known(ctx, req)
	}
	return reply, err
}

func (d dependencyResumes) record(ctx context.Context, tx *tx, req request, id string, taken charge, reply answer) error {
	stepped, err := tx.update(ctx, `update orders set charge = ? where id = ? and charge = ''`, taken.ID, id)
	switch {
	case err != nil:
		return err
	case stepped == 0:
		return errCompleted
	}
	return tx.completeKey(ctx, req, reply)
}
