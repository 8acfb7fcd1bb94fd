package orders

import (
	"context"
	"net/http"
	"path"

	"github.com/doubletap-harness/doubletap/contract"
)

// replayRerunsPostprocessingDesign sends a mail for every answer that says "created".
//
// What comes after an order hangs on the answer, in a hook behind everything else: the handler stays
// small, and what failed gets no mail. But a replay is, by contract, the same answer, status and all.
// The hook cannot tell it from the first one, and the customer is told twice that the order is on its
// way.
func replayRerunsPostprocessingDesign() Design {
	return Design{
		Name:     "replay-reruns-postprocessing",
		Summary:  "sends a mail after each 201, and a replay is one: a repeat makes no second order, but sends the mail again",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "mail-with-order",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"sequential-replay", "withheld-answer", "burst-same-key"},
		effects:  []contract.Effect{mails()},
		schema:   []string{ordersTable, keysTable, mailsTable},
		handler: func(a *api) handler {
			next := needKey(newUniqueKey(a).create)
			return func(ctx context.Context, req request) (answer, error) {
				reply, err := next(ctx, req)
				if err != nil || reply.Status != http.StatusCreated {
					return reply, err
				}
				return reply, a.mail(context.WithoutCancel(ctx), req.Kind, path.Base(reply.Header["Location"]))
			}
		},
	}
}

// mailsTable stands for the mails that have left the house.
const mailsTable = `create table mails (id varchar(40) primary key, order_id varchar(40) not null)`

func mails() contract.Effect {
	return contract.Effect{
		Name:  "mails",
		Query: "select id from mails where order_id in (select id from orders where note = :marker and kind = 'order')",
		Rows:  new(1),
	}
}

// mail tells the customer of an order. Of a quote nobody is told.
func (a *api) mail(ctx context.Context, of kind, orderID string) error {
	if of != kindOrder {
		return nil
	}
	return a.db.retry(ctx, func() error {
		return a.db.exec(ctx, `insert into mails (id, order_id) values (?, ?)`, newID("mail_"), orderID)
	})
}
