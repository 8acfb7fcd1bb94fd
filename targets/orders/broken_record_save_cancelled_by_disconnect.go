package orders

import (
	"context"
	"database/sql"
	"errors"
)

// recordSaveCancelledByDisconnect finishes an order whose client has left, and does not record its key.
//
// The key is locked and looked up again under the lock, so that no two requests meet. What has begun
// is finished without its client, with a context that outlives the request: half an order would be
// worse. The middleware that records the answer knows nothing of that, and uses the request's own
// context, which ended when the client hung up. So the record fails exactly for the client that is
// going to try again.
type recordSaveCancelledByDisconnect struct {
	uniqueKey
	locks *locks
}

func recordSaveCancelledByDisconnectDesign() Design {
	return Design{
		Name:     "record-save-cancelled-by-disconnect",
		Summary:  "finishes the order of a client that has left, and records its key with the context that ended with it: the retry makes another",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"slow-road"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(recordSaveCancelledByDisconnect{newUniqueKey(a), new(locks)}.create)
		},
	}
}

func (r recordSaveCancelledByDisconnect) create(ctx context.Context, req request) (answer, error) {
	defer r.locks.lock(req.Key)()
	reply, err := r.repeat(context.WithoutCancel(ctx), req)
	if !errors.Is(err, sql.ErrNoRows) {
		return reply, err
	}
	reply, err = r.createWithoutKey(context.WithoutCancel(ctx), req)
	if err != nil {
		return answer{}, err
	}
	return reply, r.db.insertKey(ctx, req, reply)
}
