package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// mailBeforeCommitDesign mails the receipt between the order and its key, inside the transaction.
//
// A mail is no part of a transaction: where the key turns out to be taken, the order is rolled back, and its receipt is out.
func mailBeforeCommitDesign() Design {
	return Design{
		Name:     "mail-before-commit",
		Summary:  "writes the order, mails its receipt, then writes the key and commits: what is rolled back has a receipt",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "mail-outbox-claimed",
		Shows:    []string{"effect-mismatch", "downstream-key-changed", "effect-before-commit"},
		By:       []string{"burst-same-key", "effect-answer-lost"},
		effects:  []contract.Effect{oneReceipt()},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return toldBeforeKey(a, func(ctx context.Context, o order) error { return a.outside.receipt(ctx, newID("mail_"), o) })
		},
	}
}

// toldBeforeKey writes the order, tells others of it, then writes the key and commits.
func toldBeforeKey(a *api, tell func(context.Context, order) error) handler {
	u := newUniqueKey(a)
	u.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
		if err := tx.insertOrder(ctx, o); err != nil {
			return err
		}
		if err := tell(ctx, o); err != nil {
			return err
		}
		return tx.insertKey(ctx, req, reply)
	}
	return needKey(func(ctx context.Context, req request) (answer, error) {
		if reply, err := a.db.known(ctx, req); err != nil || reply.Status != 0 {
			return reply, err
		}
		return u.create(ctx, req)
	})
}
