package orders

import (
	"context"
	"database/sql"
	"errors"
)

// uniqueMissing lets its model validate that the reference is unique, in the transaction that saves it.
//
// "validates :reference, uniqueness: true" reads like a promise of the database and is a select. The
// transaction does not help: it makes the writes one, and hides them from other transactions until it commits.
// So the more carefully everything was put into it, the longer does the other validation see nothing.
// What is missing is the index. On SQLite, where transactions that write take turns, it never shows:
// neither on the laptop nor in the tests.
type uniqueMissing struct{ *api }

func uniqueMissingDesign() Design {
	return Design{
		Name:     "unique-missing",
		Summary:  "validates in the order's transaction that the reference is unique, and no index does: transactions do not see each other",
		Contract: oncePerReference(),
		Twin:     "natural-key",
		Shows:    []string{"duplicate"},
		By:       []string{"tabs-natural-key", "burst-same-key"},
		On:       []string{"postgres", "mariadb"},
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return needReference(uniqueMissing{a}.create) },
	}
}

func (u uniqueMissing) create(ctx context.Context, req request) (reply answer, err error) {
	err = u.db.retry(ctx, func() error {
		return u.db.transaction(ctx, func(tx *tx) error {
			reply, err = u.save(ctx, tx, newOrder(req))
			return err
		})
	})
	return reply, err
}

func (u uniqueMissing) save(ctx context.Context, tx *tx, o order) (answer, error) {
	first, err := tx.orderByReference(ctx, o)
	if err == nil {
		return alreadyExists(first.ID), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	if err := tx.insertOrder(ctx, o); err != nil {
		return answer{}, err
	}
	return created(o), u.work(ctx)
}
