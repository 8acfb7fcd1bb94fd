package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// atLeastOnce notifies the warehouse of each order, perhaps more than once.
//
// The notification is committed with the order, as a row of the outbox. Before every answer, and
// when the process begins, all rows are looked at that are not done: the message is sent, and then it is done.
// A server that dies in between sends it again when it is back, and two that look at the same time both send it. This is
// why the message is named after the order, and not after its sending: to the warehouse, which counts names,
// three messages of one name are one.
type atLeastOnce struct{ uniqueKey }

func atLeastOnceDesign() Design {
	return Design{
		Name:     "at-least-once",
		Summary:  "an outbox row in the order's transaction, relayed before every answer: messages may come twice, under the name of their order",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		effects:  []contract.Effect{messages()},
		schema: []string{
			ordersTable, keysTable,
			`create table outbox (order_id varchar(40) primary key, done integer not null default 0)`,
			`create index outbox_undone on outbox (done, order_id)`,
			`create table warehouse (order_id varchar(40) not null)`,
		},
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.write = writeToOutbox
			return needKey(atLeastOnce{u}.create)
		},
		resume: func(a *api) { atLeastOnce{newUniqueKey(a)}.relay(context.Background()) },
	}
}

// messages are those that the warehouse takes for different ones.
func messages() contract.Effect {
	return contract.Effect{
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
	if err == nil {
		l.relay(context.WithoutCancel(ctx))
	}
	return reply, err
}

// relay sends what is not done. What fails is left to the next one, and does not hold up the rest.
func (l atLeastOnce) relay(ctx context.Context) {
	for id := ""; ; {
		err := l.db.queryRow(ctx, `select order_id from outbox where done = 0 and order_id > ? order by order_id limit 1`, id).Scan(&id)
		if err != nil {
			return // there is no more, or a database that the next one will find
		}
		_ = l.send(ctx, id)
	}
}

func (l atLeastOnce) send(ctx context.Context, id string) error {
	return l.db.retry(ctx, func() error {
		if err := l.db.exec(ctx, `insert into warehouse (order_id) values (?)`, id); err != nil {
			return err
		}
		return l.db.exec(ctx, `update outbox set done = 1 where order_id = ?`, id)
	})
}
