package orders

import (
	"context"
	"net/http"
)

// refusalCorrectedExecutesDesign is refusal-kept that means well.
//
// The same request is refused again, as it promises. But a record of a refusal is no obstacle to another body: that is
// executed, and takes the record over. A client that gave the key up, since its answer was final, has an order after all
// when a late copy comes with another amount.
func refusalCorrectedExecutesDesign() Design {
	return Design{
		Name:     "refusal-corrected-executes",
		Summary:  "promises that a refusal is stored under its key, and executes another body that comes with it",
		Contract: storing4xx(true),
		Key:      requiredKey(),
		Twin:     "refusal-kept",
		Shows:    []string{"altered-body-violation"},
		By:       []string{"corrected-after-refusal"},
		schema:   []string{ordersTable, keysTable},
		read:     readAnyRequest,
		handler: varied(func(a *api, p *parts) {
			keepRefusals(p)
			p.replay = a.replaceRefusal
		}),
	}
}

// replaceRefusal is replayExactly, unless a refusal is on record and the body is another one.
func (a *api) replaceRefusal(ctx context.Context, first record, req request) (answer, error) {
	if first.Answer.Status != http.StatusBadRequest || first.Fingerprint == req.Fingerprint || checkAmount(req.Order.Amount, "amount") != nil {
		return first.replayTo(req), nil
	}
	o := newOrder(req)
	reply := created(o)
	err := a.db.transaction(ctx, func(tx *tx) error {
		err := tx.exec(ctx, `delete from idempotency_keys where idempotency_key = ?`, req.Key)
		if err != nil {
			return err
		}
		return writeKeyAndOrder(ctx, tx, req, o, reply)
	})
	return reply, err
}
