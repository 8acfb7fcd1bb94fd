package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// partialCommit commits the order with its key before the payment, and its lines after it.
//
// No transaction should wait for a payment, so one became two. In between, the order is there and has no
// lines, and a client that leaves takes the context of its request along: the lines are never written.
// The retry finds the key and is told of an order that is complete; nobody will ever come back to it.
type partialCommit struct{ *api }

func partialCommitDesign() Design {
	return Design{
		Name:     "partial-commit",
		Summary:  "commits order and key, works, then writes the lines: a client that leaves in between gets an order without lines",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "order-with-lines",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"impatient-retry"},
		effects:  []contract.Effect{lines()},
		schema:   []string{ordersTable, keysTable, linesTable},
		handler:  func(a *api) handler { return needKey(partialCommit{a}.create) },
	}
}

func (p partialCommit) create(ctx context.Context, req request) (reply answer, err error) {
	o := newOrder(req)
	reply = created(o)
	err = p.db.transaction(ctx, func(tx *tx) error { return writeKeyAndOrder(ctx, tx, req, o, reply) })
	if isDuplicate(err) {
		return p.db.known(ctx, req)
	}
	if err != nil {
		return answer{}, err
	}
	if err := p.work(ctx); err != nil {
		return answer{}, err
	}
	return reply, p.db.insertLines(ctx, o.Kind, o.ID, o.Item)
}
