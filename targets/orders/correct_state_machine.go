package orders

import (
	"context"
	"net/http"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// stateMachine takes an order one step further with a statement that says from where.
//
// An order is placed, and then confirmed or cancelled. "Set state = 'confirmed' where state = 'placed'" matches its
// row once: of several that confirm the order at the same time one takes the step, and the goods with it, and the
// others wait until that is committed and match nothing. To match nothing is no answer yet, for a repeat does, and
// so does who comes too late. So the order itself is looked at: if it is as it was asked to be, that is a success,
// whoever did it; if it went another way, it is a conflict.
type stateMachine struct{ *api }

func stateMachineDesign() Design {
	return Design{
		Name:     "state-machine",
		Summary:  "PATCH confirms an order, no idempotency key: a guard on the state lets one of several do it, and a repeat is shown that it is confirmed",
		Correct:  true,
		Contract: oncePerPath(),
		effects:  []contract.Effect{stock()},
		schema: []string{
			ordersTable, `alter table orders add column state varchar(10) not null default 'placed'`,
			stockTable, fullStock,
		},
		handler: func(a *api) handler { return a.createWithoutKey },
		routes:  func(a *api, mux *http.ServeMux) { a.changes(mux, stateMachine{a}.step) },
		describe: func(o *targets.Operation, of kind) {
			describeChange(o, of, map[string]any{"state": "confirmed"})
			o.Rows.Query += " and state = 'confirmed'"
			o.Invalid = map[string]any{"state": "lost"}
			o.Rows.Content = nil // the request does not say what the row holds
		},
	}
}

func (s stateMachine) step(ctx context.Context, c change) (answer, error) {
	to, _ := c.Members["state"].(string)
	if !slices.Contains([]string{"confirmed", "cancelled"}, to) {
		return invalidBody("state must be confirmed or cancelled"), nil
	}
	o, err := s.db.orderWhere(ctx, "id = ? and kind = ? and customer = ?", c.ID, c.Kind, c.Customer)
	if err != nil {
		return notFound(err), nil
	}
	if err := s.take(ctx, o, to); err != nil {
		return answer{}, err
	}
	return s.show(ctx, o, to)
}

// take takes the step, if no request has taken one before.
func (s stateMachine) take(ctx context.Context, o order, to string) error {
	return s.db.retry(ctx, func() error {
		return s.db.transaction(ctx, func(tx *tx) error {
			taken, err := tx.update(ctx, `update orders set state = ? where id = ? and state = 'placed'`, to, o.ID)
			if err != nil || taken == 0 || to != "confirmed" {
				return err
			}
			if err := s.work(ctx); err != nil {
				return err
			}
			return tx.takeFromStock(ctx, o.Kind, o.Item)
		})
	})
}

// show answers with the state in which the order is now, which may not be the one that was asked for.
func (s stateMachine) show(ctx context.Context, o order, wanted string) (answer, error) {
	shown := struct {
		order
		State string `json:"state"`
	}{order: o}
	err := s.db.queryRow(ctx, `select state from orders where id = ?`, o.ID).Scan(&shown.State)
	if err == nil && shown.State != wanted {
		return problem(http.StatusConflict, "other_state", "the order is "+shown.State), nil
	}
	return jsonAnswer(http.StatusOK, shown), err
}
