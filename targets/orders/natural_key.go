package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets"
)

// naturalKey needs no idempotency key: the customer's reference is unique, and the index says so.
//
// A request whose reference is being inserted waits at the index until the other transaction ends.
// If that one committed, the second is told that the order exists, and which one it is. Whoever lost
// the answer to its first request learns the same from its retry.
type naturalKey struct{ *api }

func naturalKeyDesign() Design {
	return Design{
		Name:    "natural-key",
		Summary: "a unique index on the reference, no idempotency key: a repeat gets 409 with the id of the order that exists",
		Correct: true,
		Contract: targets.Contract{
			Level:      targets.DedupOnly,
			NaturalKey: []string{"/reference"},
			Ack:        targets.Ack{Signature: targets.Signature{Statuses: []int{201}}},
			Existing:   targets.Existing{Signature: problemSignature(409, "already_exists"), Identity: "/id"},
		},
		schema: []string{`create table orders (
			id varchar(40) primary key,
			note varchar(255) not null,
			reference varchar(255) not null unique,
			item varchar(255) not null,
			amount bigint not null,
			created_at varchar(40) not null
		)`},
		handler: func(a *api) handler { return naturalKey{a}.create },
	}
}

func (n naturalKey) create(ctx context.Context, req request) (answer, error) {
	if req.Order.Reference == "" {
		return invalidBody("reference is required"), nil
	}
	o := newOrder(req)
	err := n.db.retry(ctx, func() error {
		return n.db.transaction(ctx, func(tx *tx) error {
			err := tx.exec(ctx, `insert into orders (id, note, reference, item, amount, created_at)
				values (?, ?, ?, ?, ?, ?)`, o.columns()...)
			if err != nil {
				return err
			}
			return n.work(ctx)
		})
	})
	if isDuplicate(err) {
		return n.existing(ctx, o.Reference)
	}
	return created(o), err
}

func (n naturalKey) existing(ctx context.Context, reference string) (answer, error) {
	var id string
	err := n.db.queryRow(ctx, `select id from orders where reference = ?`, reference).Scan(&id)
	return alreadyExists(id), err
}
