package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// upsert creates the order with this reference, or finds it.
//
// "On conflict do nothing" would not wait for a transaction that may still be rolled back on every
// database. The update that changes nothing does, and locks the row: what is read next is the order of
// this reference, whichever request created it.
type upsert struct {
	*api
	unique string // the columns of the index that finds the order
}

func upsertDesign() Design {
	return Design{
		Name:     "upsert",
		Summary:  "an upsert on the reference that changes nothing, no idempotency key: 201 with a new order or 200 with the one that exists",
		Correct:  true,
		Contract: createdOrFound(),
		schema:   []string{ordersTable, referenceIndex},
		handler:  func(a *api) handler { return needReference(newUpsert(a).create) },
	}
}

// createdOrFound is the claim that a customer's reference makes one order: 201 with a new one, 200 with
// the one that exists.
func createdOrFound() contract.Contract {
	promise := loose()
	promise.NaturalKey = []string{"/reference"}
	promise.Replay.Status = map[int][]int{http.StatusCreated: {http.StatusOK}}
	promise.MissingKey = contract.Signature{}
	return promise
}

func newUpsert(a *api) upsert { return upsert{a, "customer, kind, reference"} }

func (u upsert) create(ctx context.Context, req request) (answer, error) {
	found, isNew, err := u.createOrFind(ctx, req)
	if isNew {
		return created(found), err
	}
	return as200(created(found)), err
}

func (u upsert) createOrFind(ctx context.Context, req request) (found order, isNew bool, err error) {
	o := newOrder(req)
	err = u.db.retry(ctx, func() error {
		return u.db.transaction(ctx, func(tx *tx) error {
			err := tx.exec(ctx, insertOrder+tx.onConflict(u.unique, "reference = orders.reference"), o.columns()...)
			if err != nil {
				return err
			}
			if found, err = tx.orderByReference(ctx, o); err != nil || found.ID != o.ID {
				return err
			}
			return u.work(ctx)
		})
	})
	return found, found.ID == o.ID, err
}

// onConflict ends an insert that updates the row which has these columns already.
func (q queries) onConflict(columns, update string) string {
	if q.dialect == dialectMariaDB {
		return " on duplicate key update " + update
	}
	return " on conflict (" + columns + ") do update set " + update
}
