package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// mailWithOrderDesign puts the mail into the order's transaction, and so into what a key stands for: a repetition that is answered
// from the record sends none.
func mailWithOrderDesign() Design {
	return Design{
		Name:     "mail-with-order",
		Summary:  "order, mail and key in one transaction: a repeat gets the recorded answer, and no mail goes out again",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		effects:  []contract.Effect{mails()},
		schema:   []string{ordersTable, keysTable, mailsTable},
		handler:  varied(func(_ *api, p *parts) { p.write = writeWithMail }),
	}
}

func writeWithMail(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil || req.Kind != kindOrder {
		return err
	}
	return tx.exec(ctx, `insert into mails (id, order_id) values (?, ?)`, newID("mail_"), o.ID)
}
