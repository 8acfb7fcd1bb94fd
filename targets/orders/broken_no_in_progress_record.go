package orders

import (
	"context"
	"database/sql"
	"errors"
)

// noInProgressRecord puts the whole of its protection around a handler that knows nothing of keys.
//
// A record exists only of what is done, so that nothing holds back a request that comes while the
// first is being executed. The unique index on the keys does refuse the second record, and the
// request that meets it gets the first answer. So every client is told of the same order, and a test that compares the
// answers finds nothing wrong, and the other order, which the handler had committed by then, is there
// all the same: no client knows its id, and it is delivered.
type noInProgressRecord struct{ uniqueKey }

func noInProgressRecordDesign() Design {
	return Design{
		Name:     "no-in-progress-record",
		Summary:  "records a key once its order is done: requests at the same time all make one, and all get the first one's answer",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "enter-plus-click", "tabs-one-key"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(noInProgressRecord{newUniqueKey(a)}.create) },
	}
}

func (n noInProgressRecord) create(ctx context.Context, req request) (answer, error) {
	reply, err := n.repeat(ctx, req)
	if !errors.Is(err, sql.ErrNoRows) {
		return reply, err
	}
	reply, err = n.createWithoutKey(ctx, req)
	if err != nil {
		return answer{}, err
	}
	err = n.db.insertKey(ctx, req, reply)
	if isDuplicate(err) {
		return n.repeat(ctx, req)
	}
	return reply, err
}
