package orders

import (
	"context"
	"time"
)

// reaperFreesRunning deletes all claims that are older than a second.
//
// A process that dies leaves its claims behind, which would block their keys for ever. So each request
// first reaps what is old. Nobody asks whether the holder of an old claim is dead, or only slow, and a
// holder that comes to its end does not ask whether it still has its claim.
type reaperFreesRunning struct{ inProgressLeaseTooShort }

func reaperFreesRunningDesign() Design {
	return Design{
		Name:     "reaper-frees-running",
		Summary:  "deletes claims that are older than 1s, also those of requests that still run: a retry makes a second order",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "reaper-frees-dead",
		Shows:    []string{"duplicate"},
		By:       []string{"long-work"},
		schema:   []string{ordersTable, leasedKeysTable},
		handler: func(a *api) handler {
			return needKey(reaperFreesRunning{inProgressLeaseTooShort{inProgress409{a, renewedLease}}}.create)
		},
	}
}

func (r reaperFreesRunning) create(ctx context.Context, req request) (answer, error) {
	if err := r.reap(ctx); err != nil {
		return answer{}, err
	}
	return r.inProgressLeaseTooShort.create(ctx, req)
}

// reap deletes the claims whose lease is over.
func (p inProgress409) reap(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	return p.db.retry(ctx, func() error {
		return p.db.exec(ctx, "delete from idempotency_keys where status = 0 and lease_until < ?", time.Now().UnixMilli())
	})
}
