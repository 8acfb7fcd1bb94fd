package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets"
)

// partialCommit writes an order in two transactions.
//
// Key and order come first, then the payment is authorised, which is nothing to hold a transaction
// open for, and then the order's lines are written. If the client leaves in between, the context of
// its request ends, and the order stays without lines. The retry finds the key and replays an answer
// that nobody has got before: the order is acknowledged, and nothing will ever be delivered.
type partialCommit struct{ uniqueKey }

func partialCommitDesign() Design {
	return Design{
		Name:     "partial-commit",
		Summary:  "commits the order, and its lines later: if the client leaves in between, its retry is told of an order without lines",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Shows:    []string{"effect-mismatch"},
		By:       []string{"slow-road", "impatient-retry"},
		effects:  []targets.Effect{lines()},
		schema:   []string{ordersTable, keysTable, linesTable},
		handler:  func(a *api) handler { return needKey(partialCommit{newUniqueKey(a)}.create) },
	}
}

func (c partialCommit) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	err := c.writeDetached(ctx, req, o, reply)
	if isDuplicate(err) {
		return c.repeat(ctx, req)
	}
	if err != nil {
		return answer{}, err
	}
	if err := c.work(ctx); err != nil {
		return answer{}, err
	}
	return reply, c.db.retry(ctx, func() error { return c.db.insertLines(ctx, o.Kind, o.ID, o.Item) })
}
