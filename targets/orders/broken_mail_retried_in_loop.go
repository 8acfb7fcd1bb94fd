package orders

import "context"

// mailRetriedInLoopDesign mails the receipt once, as it thinks: up to three times until there is no error.
//
// The mail server took the first one, and its answer was a failure or was lost. The loop builds a new mail for each try.
func mailRetriedInLoopDesign() Design {
	return flaggedMailDesign(Design{
		Name:    "mail-retried-in-loop",
		Summary: "commits the order and a flag, then mails the receipt up to three times until there is no error: a mail whose answer was lost comes twice",
		Twin:    "mail-at-most-once",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"effect-answer-lost", "effect-error", "effect-answer-lost-burst"},
	}, func(a *api, o order) {
		for range tries {
			if a.outside.receipt(context.Background(), newID("mail_"), o) == nil {
				return
			}
		}
	})
}
