package orders

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// replicaLagCheck looks the key up where all its reads go: at a replica.
//
// Whoever wrote the handler wrote a look and an insert; that one of them goes elsewhere was settled in a
// configuration, to take load off the primary. The replica is a moment behind. A retry that comes within
// this moment is told that its key is new, though the answer to the first request was sent long ago, and
// the index of the primary, which could say otherwise, is not unique.
type replicaLagCheck struct{ *api }

// lag is how far a replica is behind. It is stood for by a look at what has been there for so long.
const lag = 100 * time.Millisecond

func replicaLagCheckDesign() Design {
	return Design{
		Name:     "replica-lag-check",
		Summary:  "looks the key up at a replica that is 100ms behind, no unique index: a retry within this time makes a second order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "replica-precheck",
		Shows:    []string{"duplicate"},
		By:       []string{"sequential-replay", "burst-same-key"},
		schema:   []string{ordersTable, keysLoose, keysIndex, keysHaveAge},
		handler:  func(a *api) handler { return needKey(replicaLagCheck{a}.create) },
	}
}

func (r replicaLagCheck) create(ctx context.Context, req request) (answer, error) {
	first, err := r.db.recordAtReplica(ctx, req.Key)
	if err == nil {
		return first.replayTo(req), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err = r.db.transaction(ctx, func(tx *tx) error { return writeForReplica(ctx, tx, req, o, reply) })
	return reply, err
}

// recordAtReplica is what a replica knows of a key.
func (q queries) recordAtReplica(ctx context.Context, key string) (record, error) {
	return q.recordWhere(ctx, "idempotency_key = ? and used_at < ?", key, time.Now().Add(-lag).UnixMilli())
}

func writeForReplica(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := tx.insertKeyAt(ctx, req, reply, time.Now()); err != nil {
		return err
	}
	return tx.insertOrder(ctx, o)
}
