package orders

import (
	"context"
	"database/sql"
	"errors"

	"github.com/doubletap-harness/doubletap/contract"
)

// outboxSkipLockedDesign is the outbox whose relays lock an entry for as long as they send it, and pass over those that are locked.
//
// The database gives the lock back when a relay dies, and the next one sends the entry again, under the same key.
func outboxSkipLockedDesign() Design {
	return outboxDesign(Design{
		Name:    "outbox-skip-locked",
		Summary: "order, key and an entry of the outbox in one transaction; a relay selects an entry for update skip locked, asks for the payment under its id, and marks it in the same transaction",
		Correct: true,
		On:      []string{"postgres", "mariadb"},
		effects: []contract.Effect{within(oneCharge())},
	}, func(a *api) relayed {
		return relayed{api: a, lock: true, first: true, send: func(ctx context.Context, id string, o order) error {
			_, err := a.outside.charge(ctx, id, o)
			return err
		}}
	})
}

// underLocks sends what waits and no other relay is sending, one entry after the other.
func (d relayed) underLocks(ctx context.Context) error {
	for {
		sent := false
		err := d.db.transactionAt(ctx, sql.LevelReadCommitted, func(tx *tx) error {
			o := order{Kind: kindOrder}
			err := tx.queryRow(ctx, `select id, note, amount from outbox where state = ? limit 1 for update skip locked`, entryWaits).Scan(&o.ID, &o.Note, &o.Amount)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				return nil
			case err != nil:
				return err
			}
			if err := d.send(ctx, o.ID, o); err != nil {
				return err
			}
			sent = true
			return tx.exec(ctx, `update outbox set state = ? where id = ?`, entryDone, o.ID)
		})
		if err != nil || !sent {
			return err
		}
	}
}
