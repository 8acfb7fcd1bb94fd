package orders

import (
	"context"
	"errors"
)

// dependencyErrorFreesKey commits order and key, has the payment taken, and forgets the key if that failed.
//
// The order of things is right: what is to be paid is there before it is paid, and whoever comes meanwhile finds
// the key. But an error of the other service is taken for the end of the request, and a request that failed
// leaves no key behind, so that it may be tried again. The order is left behind, perhaps paid for, and the retry
// makes and pays a second one. Clients that leave do no harm here: only the service's error frees the key.
type dependencyErrorFreesKey struct{ uniqueKey }

func dependencyErrorFreesKeyDesign() Design {
	return Design{
		Name:       "dependency-error-frees-key",
		Summary:    "forgets the key when the payment fails that follows on the order's commit: the retry makes a second order",
		Contract:   exactReplay(),
		Key:        requiredKey(),
		Twin:       "dependency-resumes",
		Shows:      []string{"duplicate"},
		By:         []string{"dependency-cut"},
		Dependency: true,
		schema:     []string{ordersTable, keysTable},
		handler:    func(a *api) handler { return needKey(dependencyErrorFreesKey{newUniqueKey(a)}.create) },
	}
}

func (d dependencyErrorFreesKey) create(ctx context.Context, req request) (answer, error) {
	var reply answer
	err := d.db.retry(ctx, func() (err error) {
		reply, err = d.execute(ctx, req)
		return err
	})
	if isDuplicate(err) {
		return d.repeat(ctx, req)
	}
	if err != nil {
		return answer{}, err
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := d.dependency.charge(ctx, reply.Header["Location"]); err != nil {
		return answer{}, errors.Join(err, d.db.forgetKey(ctx, req))
	}
	return reply, nil
}

// forgetKey forgets a key with its answer.
func (q queries) forgetKey(ctx context.Context, req request) error {
	return q.exec(ctx, `delete from idempotency_keys where idempotency_key = ?`, req.Key)
}
