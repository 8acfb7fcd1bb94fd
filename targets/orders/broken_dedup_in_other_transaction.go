package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// dedupInOtherTransaction remembers that a key came, in a transaction of its own.
//
// A guard in front of the handler inserts the key into a table of keys that were seen, and the unique
// index turns away who comes second, as it should: "processed already". But it commits before the
// handler begins. If the order is rolled back, since its client has left, the key stays seen, and the
// request is lost for ever: every retry is told that it was done.
type dedupInOtherTransaction struct{ *api }

func dedupInOtherTransactionDesign() Design {
	return Design{
		Name:     "dedup-in-other-transaction",
		Summary:  "commits that a key was seen before the order is: if that is rolled back, every retry is told that it was processed",
		Contract: seenOnly(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"slow-road"},
		schema:   []string{ordersTable, `create table seen (idempotency_key varchar(600) primary key)`},
		handler:  func(a *api) handler { return needKey(dedupInOtherTransaction{a}.create) },
	}
}

// seenOnly is the claim of designs that store that a key came but not its answer: a repeat is told that
// its order exists.
func seenOnly() contract.Contract {
	return contract.Contract{
		Level:      contract.DedupOnly,
		Scope:      exactReplay().Scope,
		Ack:        contract.Ack{Signature: contract.Signature{Statuses: []int{http.StatusCreated}}},
		Existing:   contract.Existing{Signature: problemSignature(http.StatusConflict, "already_processed")},
		MissingKey: exactReplay().MissingKey,
	}
}

func alreadyProcessed() answer {
	return problem(http.StatusConflict, "already_processed", "a request with this key was processed")
}

func (d dedupInOtherTransaction) create(ctx context.Context, req request) (answer, error) {
	detached := context.WithoutCancel(ctx)
	err := d.db.retry(detached, func() error {
		return d.db.exec(detached, `insert into seen (idempotency_key) values (?)`, req.Key)
	})
	if isDuplicate(err) {
		return alreadyProcessed(), nil
	}
	if err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	return created(o), d.db.retry(ctx, func() error { return d.placeOrder(ctx, o) })
}
