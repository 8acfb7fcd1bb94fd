package orders

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"sync"
)

// lockFailSuccess locks the key in memory and takes the lock's holder at its word.
//
// A request that finds the lock taken answers "success" at once: another one is creating this very
// order. But that one is not done yet and may never be: here its client leaves, the context of its
// request ends, and its transaction is rolled back. The second client was told that its order exists,
// and no row does. The answer has no id either, since nobody knew one yet.
type lockFailSuccess struct {
	*api
	held *sync.Map // keys that are being executed by this process
}

func lockFailSuccessDesign() Design {
	return Design{
		Name:     "lock-fail-success",
		Summary:  "answers success at once when the key's lock is taken: if the holder fails, an order was acknowledged that does not exist",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write", "replay-mismatch"},
		By:       []string{"burst-same-key", "cut-reset-early-retry"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(lockFailSuccess{a, new(sync.Map)}.create) },
	}
}

func (l lockFailSuccess) create(ctx context.Context, req request) (answer, error) {
	if _, taken := l.held.LoadOrStore(req.Key, true); taken {
		return jsonAnswer(http.StatusOK, map[string]string{"result": "success"}), nil
	}
	defer l.held.Delete(req.Key)
	first, err := l.db.recordOf(ctx, req.Key)
	if err == nil {
		return first.replayTo(req), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	return l.execute(ctx, req)
}

func (l lockFailSuccess) execute(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	err := l.db.transaction(ctx, func(tx *tx) error {
		err := tx.insertOrder(ctx, o)
		if err != nil {
			return err
		}
		if err := l.work(ctx); err != nil {
			return err
		}
		return tx.insertKey(ctx, req, reply)
	})
	return reply, err
}
