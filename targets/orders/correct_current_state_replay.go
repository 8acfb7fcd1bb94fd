package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// currentStateReplayDesign answers a repeat with the order as it is now.
//
// The answer to the create is written before the payment is authorised, and says "received". A repeat
// reads the order, which is paid by then. Which order it is stays the same, and that is the promise.
func currentStateReplayDesign() Design {
	promise := exactReplay()
	promise.Replay = contract.Replay{Body: contract.SameIdentity, Headers: []string{"Location", "Content-Type"}}
	return Design{
		Name:     "current-state-replay",
		Summary:  "shows a repeat the order as it is now: the id is the same, its status has moved on",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable, ordersHaveStatus},
		handler: varied(func(a *api, p *parts) {
			p.tell = func(o order) answer { return createdAs(o, "received") }
			p.replay = a.showCurrent
		}),
	}
}

// ordersHaveStatus says "paid" of every order that is committed: unpaid ones are rolled back.
const ordersHaveStatus = `alter table orders add column status varchar(20) not null default 'paid'`

func createdAs(o order, status string) answer {
	shown := struct {
		order
		Status string `json:"status"`
	}{o, status}
	return jsonAnswer(http.StatusCreated, shown).with("Location", o.location())
}

func (a *api) showCurrent(ctx context.Context, first record, req request) (answer, error) {
	if first.Fingerprint != req.Fingerprint {
		return keyReused(), nil
	}
	o, err := a.db.orderWhere(ctx, "id = ?", first.orderID())
	if err != nil {
		return answer{}, err
	}
	var status string
	err = a.db.queryRow(ctx, `select status from orders where id = ?`, o.ID).Scan(&status)
	return createdAs(o, status), err
}
