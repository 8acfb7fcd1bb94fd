package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// naturalKey needs no idempotency key: the customer's reference is unique, and the index says so.
//
// A request whose reference is being inserted waits at the index until the other transaction ends.
// If that one committed, the second is told that the order exists, and which one it is. A client that lost
// the answer to its first request learns the same from its retry.
type naturalKey struct{ *api }

func naturalKeyDesign() Design {
	return Design{
		Name:     "natural-key",
		Summary:  "a unique index on the reference, no idempotency key: a repeat gets 409 with the id of the order that exists",
		Correct:  true,
		Contract: oncePerReference(),
		schema:   []string{ordersTable, referenceIndex},
		handler:  func(a *api) handler { return needReference(naturalKey{a}.create) },
	}
}

// oncePerReference is the claim that a customer's reference makes one order, and a repeat gets its id.
func oncePerReference() contract.Contract {
	return contract.Contract{
		Level:      contract.DedupOnly,
		Scope:      contract.Scope{Principal: contract.ScopeSeparate, Operation: contract.ScopeSeparate},
		NaturalKey: []string{"/reference"},
		Ack:        contract.Ack{Signature: contract.Signature{Statuses: []int{201}}},
		Existing:   contract.Existing{Signature: problemSignature(409, "already_exists"), Identity: contract.Identity{JSON: "/id"}},
	}
}

func (n naturalKey) create(ctx context.Context, req request) (answer, error) {
	o, err := n.insert(ctx, req)
	if isDuplicate(err) {
		first, err := n.db.orderByReference(ctx, o)
		return alreadyExists(first.ID), err
	}
	return created(o), err
}

func (n naturalKey) insert(ctx context.Context, req request) (order, error) {
	o := newOrder(req)
	return o, n.db.retry(ctx, func() error {
		return n.db.transaction(ctx, func(tx *tx) error {
			if err := tx.insertOrder(ctx, o); err != nil {
				return err
			}
			return n.work(ctx)
		})
	})
}
