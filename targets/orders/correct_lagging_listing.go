package orders

import (
	"context"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/targets"
)

// viewLag is how long an order is missing where orders are listed.
const viewLag = 250 * time.Millisecond

// viewTable is where orders are listed.
const viewTable = `create table order_views (
	id varchar(40) primary key,
	kind varchar(10) not null,
	note varchar(255) not null,
	amount bigint not null
)`

// laggingListingDesign lists orders from a read model, which lags behind.
//
// The order is committed with an event. A projector takes each event, a while later, and shows its order, in one
// transaction with the end of the event. So what was acknowledged is always shown, and never at once.
func laggingListingDesign() Design {
	d := uniqueKeyDesign()
	d.Name = "lagging-listing"
	d.Summary = "orders are looked for in a read model that lags a quarter of a second behind the answers"
	d.schema = append(d.schema, viewTable, `create table events (
		id varchar(40) primary key,
		show_at bigint not null
	)`)
	d.handler = func(a *api) handler {
		a.background.Go(func() { a.project(context.Background()) })
		return varied(func(_ *api, p *parts) {
			p.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
				if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
					return err
				}
				return tx.exec(ctx, `insert into events (id, show_at) values (?, ?)`, o.ID, time.Now().Add(viewLag).UnixMilli())
			}
		})(a)
	}
	d.describe = func(o *targets.Operation, _ kind) {
		o.Rows.Query = strings.Replace(o.Rows.Query, "from orders", "from order_views", 1)
	}
	return d
}

// project shows the orders of events, until the server closes.
func (a *api) project(ctx context.Context) {
	for !a.closes(queuePoll) {
		for a.projectNext(ctx) {
		}
	}
}

// projectNext shows the order of the first event that is due, and reports whether there was one.
func (a *api) projectNext(ctx context.Context) bool {
	var id string
	if a.db.queryRow(ctx, `select id from events where show_at <= ? order by show_at, id limit 1`, time.Now().UnixMilli()).Scan(&id) != nil {
		return false
	}
	o, err := a.db.orderWhere(ctx, "id = ?", id)
	if err != nil {
		return false
	}
	return a.db.transaction(ctx, func(tx *tx) error {
		if err := tx.show(ctx, o); err != nil {
			return err
		}
		return tx.exec(ctx, `delete from events where id = ?`, id)
	}) == nil
}

func (q queries) show(ctx context.Context, o order) error {
	return q.exec(ctx, `insert into order_views (id, kind, note, amount) values (?, ?, ?, ?)`, o.ID, string(o.Kind), o.Note, o.Amount)
}
