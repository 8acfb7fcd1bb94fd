package orders

import (
	"context"
	"database/sql"
	"errors"
)

// onConflictReturnsNothing creates or finds the order in one statement, a recipe that many pages show.
//
// "Do nothing returning id" gives the id of a new row and nothing for one that was there; the union adds
// that one. Of repeats one after the other this is true. But both halves look at what was committed when
// the statement began. If the insert had to wait for another transaction with this reference, it does
// nothing, and the select does not see what that one has committed meanwhile: the statement gives no
// row. The code has learned from "do nothing" that no row means "exists", and answers 200 without an id.
type onConflictReturnsNothing struct{ *api }

func onConflictReturnsNothingDesign() Design {
	return Design{
		Name:     "on-conflict-returns-nothing",
		Summary:  "ON CONFLICT DO NOTHING RETURNING, united with a select: at the same time neither gives a row, and the answer has no id",
		Contract: createdOrFound(),
		Twin:     "upsert",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"tabs-natural-key", "burst-same-key"},
		On:       []string{"postgres"},
		schema:   []string{ordersTable, referenceIndex},
		handler:  func(a *api) handler { return needReference(onConflictReturnsNothing{a}.create) },
	}
}

const insertOrFind = `with made as (` + insertOrder + ` on conflict (customer, kind, reference) do nothing
		returning id, note, item, amount, created_at)
	select id, note, item, amount, created_at from made
	union all
	select id, note, item, amount, created_at from orders where customer = ? and kind = ? and reference = ?`

func (c onConflictReturnsNothing) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	found := order{Kind: o.Kind, Reference: o.Reference}
	err := c.db.transaction(ctx, func(tx *tx) error {
		err := tx.queryRow(ctx, insertOrFind, append(o.columns(), o.Customer, o.Kind, o.Reference)...).
			Scan(&found.ID, &found.Note, &found.Item, &found.Amount, &found.CreatedAt)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil || found.ID != o.ID {
			return err
		}
		return c.work(ctx)
	})
	if found.ID == o.ID {
		return created(found), err
	}
	return as200(created(found)), err
}
