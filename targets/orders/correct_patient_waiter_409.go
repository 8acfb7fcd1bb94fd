package orders

import (
	"context"
	"errors"

	"github.com/doubletap-harness/doubletap/contract"
)

// patientWaiter409 waits 500ms for the request that holds the key, and then says that it is in use.
//
// It is patient-waiter-executes, but for what it does when its patience ends: who holds the key may be slow
// and not dead, so that nobody else executes before the lease is over. The client comes back.
type patientWaiter409 struct{ inProgress409 }

func patientWaiter409Design() Design {
	promise := turningAway()
	promise.Lease = contract.Duration(lease + defaultWork)
	return Design{
		Name:     "patient-waiter-409",
		Summary:  "waits 500ms for the request that holds the key, and answers 409 if it is not done by then",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, leasedKeysTable},
		handler:  func(a *api) handler { return needKey(patientWaiter409{inProgress409{a, lease + a.effort}}.create) },
	}
}

func (w patientWaiter409) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	token := newID("claim_")
	refusal, err := patiently(patientlyWaited, func() (answer, error) { return w.claim(ctx, req, token) })
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	return w.finish(ctx, req, token)
}

// finish executes a claimed request.
func (p inProgress409) finish(ctx context.Context, req request, token string) (answer, error) {
	reply, err := p.execute(ctx, req, token)
	if errors.Is(err, errLostClaim) {
		return p.inUse(), nil
	}
	if err != nil {
		return answer{}, errors.Join(err, p.release(ctx, req, token))
	}
	return reply, nil
}
