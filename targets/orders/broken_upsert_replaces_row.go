package orders

import (
	"context"
	"strings"
)

// upsertReplacesRow upserts with REPLACE, which is not an update.
//
// There is one row per reference at any time, and two tests say so. But REPLACE deletes the row that is
// in the way and inserts a new one, with a new id. Who was told of the first order knows an id that is
// gone, and so do invoices and parcels. "On conflict do update", or "on duplicate key update", keeps it.
type upsertReplacesRow struct{ *api }

func upsertReplacesRowDesign() Design {
	return Design{
		Name:     "upsert-replaces-row",
		Summary:  "upserts with REPLACE, which deletes the order and inserts another: a repeat takes away the id that was acknowledged",
		Contract: createdOrFound(),
		Twin:     "upsert",
		Shows:    []string{"lost-acknowledged-write", "replay-mismatch"},
		By:       []string{"altered-after", "sequential-replay"},
		On:       []string{"sqlite", "mariadb"},
		schema:   []string{ordersTable, referenceIndex},
		handler:  func(a *api) handler { return needReference(upsertReplacesRow{a}.create) },
	}
}

func (u upsertReplacesRow) create(ctx context.Context, req request) (answer, error) {
	if err := u.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	err := u.db.retry(ctx, func() error {
		return u.db.exec(ctx, strings.Replace(insertOrder, "insert", "replace", 1), o.columns()...)
	})
	return created(o), err
}
