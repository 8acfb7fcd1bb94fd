package orders

import (
	"context"
	"database/sql"
	"errors"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// turningAway is exactReplay for designs that answer a repeat with "come back later" while the first runs.
func turningAway() contract.Contract {
	promise := exactReplay()
	promise.InProgress = contract.InProgress{
		Mode: contract.InProgressReject, Signature: problemSignature(http.StatusConflict, "key_in_use"),
	}
	return promise
}

// claim commits a record that has no answer yet, in the designs whose claims are as simple as that. It
// returns the zero answer if the key is this request's now, else what to answer instead. A client that
// leaves meanwhile must not leave in doubt whether there is a claim.
func (a *api) claim(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	err := a.db.retry(ctx, func() error { return a.db.insertKey(ctx, req, answer{}) })
	if !isDuplicate(err) {
		return answer{}, err
	}
	first, err := a.db.recordOf(ctx, req.Key)
	if errors.Is(err, sql.ErrNoRows) {
		return keyInUse(), nil // it was, a moment ago
	}
	return first.replayOnceThere(req), err
}

// executeClaimed works, and writes the order together with the answer to its key, which was claimed.
func (a *api) executeClaimed(ctx context.Context, req request) (answer, error) {
	if err := a.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err := a.db.retry(ctx, func() error {
		return a.db.transaction(ctx, func(tx *tx) error {
			if err := tx.completeKey(ctx, req, reply); err != nil {
				return err
			}
			return tx.insertOrder(ctx, o)
		})
	})
	return reply, err
}

// completeKey gives a key that was claimed its answer.
func (q queries) completeKey(ctx context.Context, req request, reply answer) error {
	return q.exec(ctx, `update idempotency_keys set status = ?, location = ?, body = ? where idempotency_key = ?`,
		reply.Status, reply.Header["Location"], string(reply.Body), req.Key)
}

// releaseKey takes a claim back, but no answer.
func (q queries) releaseKey(ctx context.Context, req request) error {
	return q.exec(ctx, `delete from idempotency_keys where idempotency_key = ? and status = 0`, req.Key)
}
