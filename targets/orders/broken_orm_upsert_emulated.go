package orders

import "context"

// ormUpsertEmulated saves as libraries do that have to work on every database: update the row, and if
// none was there, insert it.
//
// The method is called upsert, and so people take it for the statement of that name. It is two
// statements. An update that matches nothing locks nothing: several of them match nothing at the same
// time, and each goes on to its insert.
type ormUpsertEmulated struct{ *api }

func ormUpsertEmulatedDesign() Design {
	return Design{
		Name:     "orm-upsert-emulated",
		Summary:  "an upsert that is an update and, if it matched nothing, an insert: updates at the same time all match nothing",
		Contract: createdOrFound(),
		Twin:     "upsert",
		Shows:    []string{"duplicate"},
		By:       []string{"tabs-natural-key", "burst-same-key", "burst-write-gate"},
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return needReference(ormUpsertEmulated{a}.create) },
	}
}

func (u ormUpsertEmulated) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	matched, err := u.db.update(ctx, `update orders set reference = ? where customer = ? and kind = ? and reference = ?`,
		o.Reference, o.Customer, o.Kind, o.Reference)
	if err != nil {
		return answer{}, err
	}
	if matched > 0 {
		found, err := u.db.orderByReference(ctx, o)
		return as200(created(found)), err
	}
	if err := u.work(ctx); err != nil {
		return answer{}, err
	}
	return created(o), u.db.insertOrder(ctx, o)
}
