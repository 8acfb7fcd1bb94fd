package orders

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// naturalKeyAnyCase takes "A-17" and "a-17" for one reference.
//
// An order keeps its reference as the customer wrote it. Beside it stands the reference in lower case, and that is
// what the index is on and what is looked for: the statement that decides and the statement that asks go by the same text.
type naturalKeyAnyCase struct{ *api }

// namedColumn holds the reference in lower case.
const namedColumn = `alter table orders add column named varchar(255)`

// oncePerReferenceInAnyCase is the claim that a reference in capitals is the same reference.
func oncePerReferenceInAnyCase() contract.Contract {
	promise := oncePerReference()
	promise.NaturalKeyIgnores = []contract.Ignored{contract.IgnoresCase}
	return promise
}

func naturalKeyAnyCaseDesign() Design {
	return Design{
		Name:     "natural-key-any-case",
		Summary:  "a unique index on the reference in lower case, and look-ups by it: a reference in capitals is the same one, also in a race",
		Correct:  true,
		Contract: oncePerReferenceInAnyCase(),
		schema:   []string{ordersTable, namedColumn, `create unique index orders_named on orders (customer, kind, named)`},
		handler:  func(a *api) handler { return needReference(naturalKeyAnyCase{a}.create) },
	}
}

func (n naturalKeyAnyCase) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	first, err := n.named(ctx, o)
	if err == nil {
		return alreadyExists(first.ID), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	err = n.db.retry(ctx, func() error {
		return n.db.transaction(ctx, func(tx *tx) error {
			if err := tx.insertOrder(ctx, o); err != nil {
				return err
			}
			if _, err := tx.update(ctx, `update orders set named = ? where id = ?`, strings.ToLower(o.Reference), o.ID); err != nil {
				return err
			}
			return n.work(ctx)
		})
	})
	if isDuplicate(err) {
		first, err := n.named(ctx, o)
		return alreadyExists(first.ID), err
	}
	return created(o), err
}

// named is the order that has a reference, in whichever case.
func (n naturalKeyAnyCase) named(ctx context.Context, o order) (order, error) {
	return n.db.orderWhere(ctx, "customer = ? and kind = ? and named = ?", o.Customer, o.Kind, strings.ToLower(o.Reference))
}
