package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// mailOnReplayDesign mails a receipt behind each 201, and a replay is one.
func mailOnReplayDesign() Design {
	return Design{
		Name:     "mail-on-replay",
		Summary:  "mails a receipt behind every 201, and a replay is one: a repeat makes no second order, and a second receipt",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "mail-outbox-claimed",
		Shows:    []string{"effect-mismatch", "downstream-key-changed"},
		By:       []string{"sequential-replay", "burst-same-key", "withheld-answer"},
		effects:  []contract.Effect{within(oneReceipt())},
		schema:   []string{ordersTable, keysTable},
		handler: afterCreate(func(a *api, o order) {
			_ = a.outside.receipt(context.Background(), newID("mail_"), o)
		}),
	}
}
