package orders

import (
	"context"
	"database/sql"
)

// isolated looks and writes in one transaction and relies on the isolation to keep others out in between.
//
// The payment is authorised before it: a transaction that may have to begin again should be short.
type isolated struct {
	*api
	level sql.IsolationLevel
}

func (i isolated) create(ctx context.Context, req request) (answer, error) {
	reply, err := i.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	if err := i.work(ctx); err != nil {
		return answer{}, err
	}
	err = i.db.retry(ctx, func() error {
		return i.db.transactionAt(ctx, i.level, func(tx *tx) error {
			reply, err = tx.knownOrWritten(ctx, req)
			return err
		})
	})
	return reply, err
}
