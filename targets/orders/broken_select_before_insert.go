package orders

import (
	"context"
	"database/sql"
	"errors"
)

// selectBeforeInsert asks for the reference first and inserts if no order has it.
//
// The question has a good answer ready, the id of the order that exists, and no error has to be caught.
// It is also the only guard. Three tabs ask while the first order is being paid for, are told that the
// reference is free, and insert.
type selectBeforeInsert struct{ *api }

func selectBeforeInsertDesign() Design {
	return Design{
		Name:     "select-before-insert",
		Summary:  "selects the reference, works, then inserts the order, no index: requests at the same time all find nothing",
		Contract: oncePerReference(),
		Twin:     "natural-key",
		Shows:    []string{"duplicate"},
		By:       []string{"tabs-natural-key", "burst-same-key", "burst-write-gate"},
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return needReference(selectBeforeInsert{a}.create) },
	}
}

func (s selectBeforeInsert) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	first, err := s.db.orderByReference(ctx, o)
	if err == nil {
		return alreadyExists(first.ID), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	if err := s.work(ctx); err != nil {
		return answer{}, err
	}
	return created(o), s.db.insertOrder(ctx, o)
}
