package orders

import "context"

// reaperFreesDead deletes the claims that nobody has renewed for a second.
//
// It is reaper-frees-running with holders that renew their claims while they work, so that an old claim is
// that of a process that died, and with a look at the claim in the transaction that writes the order.
type reaperFreesDead struct{ leaseRenewed }

func reaperFreesDeadDesign() Design {
	return Design{
		Name:     "reaper-frees-dead",
		Summary:  "deletes claims that were not renewed for 1s, as those of processes that died; requests that run renew theirs",
		Correct:  true,
		Contract: turningAway(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, leasedKeysTable},
		handler: func(a *api) handler {
			return needKey(reaperFreesDead{leaseRenewed{inProgress409{a, renewedLease}}}.create)
		},
	}
}

func (r reaperFreesDead) create(ctx context.Context, req request) (answer, error) {
	if err := r.reap(ctx); err != nil {
		return answer{}, err
	}
	return r.leaseRenewed.create(ctx, req)
}
