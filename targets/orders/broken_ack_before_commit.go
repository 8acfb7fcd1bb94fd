package orders

import (
	"context"
	"database/sql"
	"errors"
)

// ackBeforeCommit has its answer before it commits, and keeps to it.
//
// The handler returns its answer, the framework commits on the way out, and what goes wrong there is
// logged: the answer stands by then, and nothing has ever gone wrong with a mere commit. But the commit
// is where the unique index on the keys speaks. Of several requests at the same time it lets one
// through, and all of them are told 201, each with the id of an order of its own. If their bodies
// differ, a customer has ordered what will never be delivered.
type ackBeforeCommit struct{ uniqueKey }

func ackBeforeCommitDesign() Design {
	return Design{
		Name:     "ack-before-commit",
		Summary:  "says 201 before it commits, and whatever becomes of that: of several at the same time all are told of an order, and one is made",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write", "replay-mismatch"},
		By:       []string{"altered-race", "burst-same-key", "tabs-one-key", "database-cut"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(ackBeforeCommit{newUniqueKey(a)}.create) },
	}
}

func (c ackBeforeCommit) create(ctx context.Context, req request) (answer, error) {
	reply, err := c.repeat(ctx, req)
	if !errors.Is(err, sql.ErrNoRows) {
		return reply, err
	}
	if err := c.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply = created(o)
	_ = c.writeDetached(ctx, req, o, reply) // a failure is for the log: the answer stands
	return reply, nil
}
