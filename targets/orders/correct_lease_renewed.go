package orders

import (
	"context"
	"time"
)

// leaseRenewed claims the key for 1s, and renews the claim for as long as it works.
//
// A holder that lives keeps its claim, however long its work takes; one that died loses it after a second.
// One that was stopped for longer than that finds its claim gone when it writes, and writes nothing.
type leaseRenewed struct{ inProgress409 }

func leaseRenewedDesign() Design {
	return Design{
		Name:     "lease-renewed",
		Summary:  "claims the key for 1s and renews the claim while it works; who has lost it all the same writes nothing",
		Correct:  true,
		Contract: turningAway(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, leasedKeysTable},
		handler:  func(a *api) handler { return needKey(leaseRenewed{inProgress409{a, renewedLease}}.create) },
	}
}

func (l leaseRenewed) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	token := newID("claim_")
	refusal, err := l.claim(ctx, req, token)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	return l.finish(ctx, req, token)
}

// finish executes a claimed request while it renews the claim.
func (l leaseRenewed) finish(ctx context.Context, req request, token string) (answer, error) {
	defer l.renewing(ctx, req, token)()
	return l.inProgress409.finish(ctx, req, token)
}

// renewing renews a claim until it is stopped.
func (l leaseRenewed) renewing(ctx context.Context, req request, token string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.renew(ctx, req, token)
	}()
	return func() { cancel(); <-done }
}

// renew renews a claim until the context ends. One renewal may fail: there are others before the lease ends.
func (l leaseRenewed) renew(ctx context.Context, req request, token string) {
	beat := time.NewTicker(l.lease / 5)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			_ = l.db.exec(ctx, `update idempotency_keys set lease_until = ? where idempotency_key = ? and token = ? and status = 0`,
				l.leaseEnd(), req.Key, token)
		}
	}
}
