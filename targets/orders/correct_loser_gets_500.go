package orders

import (
	"context"
	"database/sql"
	"errors"

	"github.com/doubletap-harness/doubletap/contract"
)

// loserGets500Design lets the unique index decide and does not catch what it says.
//
// Who comes second while the first is being executed gets a 500. That is not nice, but not wrong: no
// second order is made, and a 500 says nothing about the order. The retry finds the record and gets
// the first answer.
func loserGets500Design() Design {
	promise := exactReplay()
	promise.InProgress = contract.InProgress{}
	return Design{
		Name:     "loser-gets-500",
		Summary:  "answers 500 to a duplicate that the unique index refuses: not nice, but the row is unique and a retry is answered",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(loserGets500{newUniqueKey(a)}.create) },
	}
}

type loserGets500 struct{ uniqueKey }

func (l loserGets500) create(ctx context.Context, req request) (answer, error) {
	reply, err := l.repeat(ctx, req)
	if !errors.Is(err, sql.ErrNoRows) {
		return reply, err
	}
	err = l.db.retry(ctx, func() error {
		var err error
		reply, err = l.execute(ctx, req)
		return err
	})
	return reply, err
}
