package orders

import "context"

// insertWhereNotExists looks and inserts in one statement, which cannot be interrupted.
//
// That one statement is atomic is true, and means that all of it happens or nothing. It does not mean
// that nothing else happens meanwhile. On PostgreSQL the statement looks at what was committed when it
// began; an order that another transaction has inserted and not committed yet does not exist for it.
// MariaDB locks what such a statement reads, and on SQLite one transaction writes at a time: there the
// same SQL holds, by luck.
type insertWhereNotExists struct{ *api }

func insertWhereNotExistsDesign() Design {
	return Design{
		Name:     "insert-where-not-exists",
		Summary:  "INSERT ... WHERE NOT EXISTS instead of a unique index: the statement does not see orders that are not committed yet",
		Contract: oncePerReference(),
		Twin:     "natural-key",
		Shows:    []string{"duplicate"},
		By:       []string{"tabs-natural-key", "burst-same-key"},
		On:       []string{"postgres"},
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return needReference(insertWhereNotExists{a}.create) },
	}
}

func (i insertWhereNotExists) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	var inserted int64
	err := i.db.transaction(ctx, func(tx *tx) error {
		var err error
		inserted, err = tx.update(ctx, `insert into orders (id, customer, kind, note, reference, item, amount, created_at)
			select ?, ?, ?, ?, ?, ?, cast(? as bigint), ?
			where not exists (select 1 from orders where customer = ? and kind = ? and reference = ?)`,
			append(o.columns(), o.Customer, o.Kind, o.Reference)...)
		if err != nil || inserted == 0 {
			return err
		}
		return i.work(ctx)
	})
	if err != nil || inserted == 1 {
		return created(o), err
	}
	first, err := i.db.orderByReference(ctx, o)
	return alreadyExists(first.ID), err
}
