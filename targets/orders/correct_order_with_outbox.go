package orders

import "context"

// outboxTable has a copy of an order for each event that others are told of.
const outboxTable = `create table outbox (
	id varchar(40) primary key,
	event varchar(40) not null,
	payload text not null
)`

// orderWithOutboxDesign writes two events beside an order, each with a copy of all of it. What is made once is the order:
// whoever counts what bears its note finds it in three tables.
func orderWithOutboxDesign() Design {
	return Design{
		Name:     "order-with-outbox",
		Summary:  "order, key and two events with copies of the order in one transaction",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable, outboxTable},
		handler:  varied(func(_ *api, p *parts) { p.write = writeWithEvents }),
	}
}

func writeWithEvents(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
		return err
	}
	for _, event := range []string{"order.created", "order.authorised"} {
		if err := tx.exec(ctx, "insert into outbox (id, event, payload) values (?, ?, ?)", newID("evt_"), event, string(mustJSON(o))); err != nil {
			return err
		}
	}
	return nil
}
