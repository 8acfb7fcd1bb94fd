package orders

import (
	"context"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// keyExpiresDesign remembers a key for 2s and takes it for a new one afterwards.
//
// The age of a key is in its row and does not depend on a cleanup job. A late request takes
// the row over with an update that matches only an old row: of several at the same time the first
// makes it young, and the others get its answer.
func keyExpiresDesign() Design {
	promise := exactReplay()
	promise.Expiry = contract.Expiry{After: contract.Duration(kept), Then: contract.ExpiryExecute}
	return Design{
		Name:     "key-expires",
		Summary:  "remembers a key for 2s: afterwards the key is new, and its request makes another order",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable, keysHaveAge},
		handler:  varied(func(_ *api, p *parts) { p.write = writeFor(kept) }),
	}
}

// kept is how long a key is remembered by designs that forget. Only tests change it, before anything begins: they age keys in the
// database, and a busy machine takes longer than this.
var kept = 2 * time.Second

const keysHaveAge = `alter table idempotency_keys add column used_at bigint not null default 0`

// writeFor writes key and order, where a key that is older than the limit counts as new.
func writeFor(limit time.Duration) func(context.Context, *tx, request, order, answer) error {
	return func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
		if err := tx.useKey(ctx, req, reply, limit); err != nil {
			return err
		}
		return tx.insertOrder(ctx, o)
	}
}

func (q queries) useKey(ctx context.Context, req request, reply answer, limit time.Duration) error {
	now := time.Now()
	taken, err := q.update(ctx, `update idempotency_keys set fingerprint = ?, status = ?, location = ?, body = ?, used_at = ?
		where idempotency_key = ? and used_at < ?`,
		req.Fingerprint, reply.Status, reply.Header["Location"], string(reply.Body), now.UnixMilli(),
		req.Key, now.Add(-limit).UnixMilli())
	if err != nil || taken == 1 {
		return err
	}
	return q.insertKeyAt(ctx, req, reply, now)
}

func (q queries) insertKeyAt(ctx context.Context, req request, reply answer, at time.Time) error {
	if err := q.insertKey(ctx, req, reply); err != nil {
		return err
	}
	return q.exec(ctx, `update idempotency_keys set used_at = ? where idempotency_key = ?`, at.UnixMilli(), req.Key)
}
