package orders

import (
	"context"
	"net/http"
)

// replayFreshAnswer remembers which order a key made, and writes a new answer about it for a repeat.
//
// There is one order per key, and its id is right. But the answer is not the first one: the order is
// written again from the request, as if it were new, so that it bears the time of now, and the status
// says 200 and has no Location, because nothing was created this time. A client that compares, or
// that waits for a 201, sees two different truths about one order.
type replayFreshAnswer struct{ *api }

func replayFreshAnswerDesign() Design {
	return Design{
		Name:     "replay-fresh-answer",
		Summary:  "remembers the order's id, not the answer: a repeat gets 200 with a new created_at instead of the same 201",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Shows:    []string{"replay-mismatch"},
		schema: []string{ordersTable, `create table idempotency_keys (
			idempotency_key varchar(255) primary key,
			fingerprint varchar(64) not null,
			order_id varchar(40) not null
		)`},
		handler: func(a *api) handler { return needKey(replayFreshAnswer{a}.create) },
	}
}

func (f replayFreshAnswer) create(ctx context.Context, req request) (answer, error) {
	var reply answer
	err := f.db.retry(ctx, func() error {
		var err error
		reply, err = f.execute(ctx, req)
		if isDuplicate(err) {
			reply, err = f.replay(ctx, req)
		}
		return err
	})
	return reply, err
}

func (f replayFreshAnswer) execute(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	err := f.db.transaction(ctx, func(tx *tx) error {
		err := tx.exec(ctx, `insert into idempotency_keys (idempotency_key, fingerprint, order_id)
			values (?, ?, ?)`, req.Key, req.Fingerprint, o.ID)
		if err != nil {
			return err
		}
		err = tx.exec(ctx, `insert into orders (id, note, reference, item, amount, created_at)
			values (?, ?, ?, ?, ?, ?)`, o.columns()...)
		if err != nil {
			return err
		}
		return f.work(ctx)
	})
	return created(o), err
}

func (f replayFreshAnswer) replay(ctx context.Context, req request) (answer, error) {
	var fingerprint, id string
	err := f.db.queryRow(ctx, `select fingerprint, order_id from idempotency_keys where idempotency_key = ?`,
		req.Key).Scan(&fingerprint, &id)
	if err != nil {
		return answer{}, err
	}
	if fingerprint != req.Fingerprint {
		return keyReused(), nil
	}
	o := newOrder(req)
	o.ID = id
	return jsonAnswer(http.StatusOK, o), nil
}
