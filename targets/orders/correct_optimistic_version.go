package orders

import (
	"context"
	"errors"
)

// optimisticVersion locks nothing: it notices that another transaction was there first, and begins again.
//
// The customer's row has a version. It is read before the look at the key, and the transaction that
// writes raises it, if it is still the same. Of two requests that both found no key, the second finds
// another version, writes nothing, and looks again. That it has changed says only that something has
// happened, not what: for the answer the key has to be looked up.
type optimisticVersion struct{ *api }

// errChanged says that the customer's version is not what it was.
var errChanged = errors.New("another request of this customer was faster")

func optimisticVersionDesign() Design {
	return Design{
		Name:     "optimistic-version",
		Summary:  "raises the customer's version with the write, if nobody else has since the look at the key; else it looks again",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysLoose, keysIndex, customersTable},
		handler:  func(a *api) handler { return needKey(optimisticVersion{a}.create) },
	}
}

func (v optimisticVersion) create(ctx context.Context, req request) (answer, error) {
	reply, err := v.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	if err := v.work(ctx); err != nil {
		return answer{}, err
	}
	for {
		reply, err := v.attempt(ctx, req)
		if !errors.Is(err, errChanged) {
			return reply, err
		}
	}
}

func (v optimisticVersion) attempt(ctx context.Context, req request) (reply answer, err error) {
	err = v.db.retry(ctx, func() error {
		version, err := v.db.versionOf(ctx, req.Customer)
		if err != nil {
			return err
		}
		if reply, err = v.db.known(ctx, req); err != nil || reply.Status != 0 {
			return err
		}
		return v.db.transaction(ctx, func(tx *tx) error {
			raised, err := tx.raiseVersion(ctx, req.Customer, version)
			if err == nil && !raised {
				return errChanged
			}
			if err != nil {
				return err
			}
			reply, err = tx.written(ctx, req)
			return err
		})
	})
	return reply, err
}
