package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// mailOutboxClaimedDesign is the outbox for receipts.
//
// A relay that gets no answer sends again, and may be sending the second mail. Both carry the Message-ID of the entry, so that the
// mail server of the customer knows the second for what it is.
func mailOutboxClaimedDesign() Design {
	return mailOutboxDesign(Design{
		Name:    "mail-outbox-claimed",
		Summary: "order, key and an entry of the outbox in one transaction; a relay claims each entry and mails the receipt under its Message-ID until there is an answer",
		Correct: true,
	}, func(entry string) string { return entry })
}

// mailOutboxDesign is a design of relayed that mails receipts, with its own Message-ID for each mail of an entry.
func mailOutboxDesign(d Design, id func(entry string) string) Design {
	d.effects = []contract.Effect{within(oneReceipt())}
	return outboxDesign(d, func(a *api) relayed {
		return relayed{api: a, claim: true, first: true, send: func(ctx context.Context, entry string, o order) error {
			return a.outside.receipt(ctx, id(entry), o)
		}}
	})
}
