package orders

// mailOutboxNewIDDesign is the outbox for receipts that leaves the Message-ID to the mail library, which draws a new one for each mail.
//
// A mail whose answer was lost is sent again, as it must be. Nothing tells the two apart from two receipts.
func mailOutboxNewIDDesign() Design {
	return mailOutboxDesign(Design{
		Name:    "mail-outbox-new-id",
		Summary: "an outbox whose relay mails until there is an answer, each time under a new Message-ID: a mail whose answer was lost comes twice",
		Twin:    "mail-outbox-claimed",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"effect-answer-lost", "effect-error"},
	}, func(string) string { return newID("mail_") })
}
