package orders

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
)

// uniqueWrongColumnDesign looks keys up by customer, and has an index on the key alone.
//
// The select was made right when the second customer came: no customer sees an order of another. The index was
// left as it was, unique on the key. Who chooses a key that another customer has used is refused by the
// one and finds nothing by the other: a conflict with something that does not exist, for ever.
func uniqueWrongColumnDesign() Design {
	return Design{
		Name:     "unique-wrong-column",
		Summary:  "a unique index on the key without the customer: the second customer with a key gets a conflict and never an order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict"},
		By:       []string{"same-key-two-principals", "same-form-two-principals"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(a *api, p *parts) {
			p.key = func(req request) string { return string(req.Kind) + " " + req.RawKey }
			p.replay = a.replayOwn
		}),
	}
}

// replayOwn replays what the customer has created, and knows of nothing else.
func (a *api) replayOwn(ctx context.Context, first record, req request) (answer, error) {
	_, err := a.db.orderWhere(ctx, "id = ? and customer = ?", first.orderID(), req.Customer)
	if errors.Is(err, sql.ErrNoRows) {
		return problem(http.StatusConflict, "conflict", "the order could not be saved"), nil
	}
	if err != nil {
		return answer{}, err
	}
	return first.replayTo(req), nil
}
