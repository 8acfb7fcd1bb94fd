package orders

import (
	"context"
	"net/http"
	"path"

	"github.com/doubletap-harness/doubletap/targets"
)

// atLeastOnce tells the warehouse of each order, perhaps more than once.
//
// That there is something to tell is committed with the order, as a row of the outbox. After every request,
// a repeat as well, the row is looked at: if it is not done, the message is sent, and then it is done.
// Whoever dies in between will send it again, and so do two that look at the same time. This is why the
// message is named after the order, and not after its sending: to the warehouse, which counts names,
// three messages of one name are one.
type atLeastOnce struct{ uniqueKey }

func atLeastOnceDesign() Design {
	return Design{
		Name:     "at-least-once",
		Summary:  "an outbox row in the order's transaction, relayed after every request: messages may come twice, under the name of their order",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		effects:  []targets.Effect{messages()},
		schema: []string{
			ordersTable, keysTable,
			`create table outbox (order_id varchar(40) primary key, done integer not null default 0)`,
			`create table warehouse (order_id varchar(40) not null)`,
		},
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.write = writeToOutbox
			return needKey(atLeastOnce{u}.create)
		},
	}
}

// messages are those that the warehouse takes for different ones.
func messages() targets.Effect {
	return targets.Effect{
		Name: "messages",
		Query: `select distinct order_id from warehouse where order_id in
			(select id from orders where note = :marker and kind = 'order')`,
		Rows: new(1),
	}
}

func writeToOutbox(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
		return err
	}
	return tx.exec(ctx, `insert into outbox (order_id) values (?)`, o.ID)
}

func (l atLeastOnce) create(ctx context.Context, req request) (answer, error) {
	reply, err := l.uniqueKey.create(ctx, req)
	if err == nil && reply.Status == http.StatusCreated {
		l.later(func() { l.relay(context.WithoutCancel(ctx), path.Base(reply.Header["Location"])) })
	}
	return reply, err
}

// relay sends what is not done. If it fails, the row says so to the next one.
func (l atLeastOnce) relay(ctx context.Context, id string) {
	_ = l.db.retry(ctx, func() error {
		err := l.db.exec(ctx, `insert into warehouse (order_id) select order_id from outbox where order_id = ? and done = 0`, id)
		if err != nil {
			return err
		}
		return l.db.exec(ctx, `update outbox set done = 1 where order_id = ?`, id)
	})
}
