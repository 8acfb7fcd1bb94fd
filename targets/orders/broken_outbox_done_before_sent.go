package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// outboxDoneBeforeSentDesign is the outbox whose relay marks an entry as done, sends it, and takes the mark back if that fails.
//
// No entry is sent twice, and none is forgotten, as long as the process lives. One that dies in between has nobody who takes the mark
// back: the order is never paid for.
func outboxDoneBeforeSentDesign() Design {
	return outboxDesign(Design{
		Name:    "outbox-done-before-sent",
		Summary: "an outbox whose relay marks an entry as done, sends it, and takes the mark back if there was no answer: a crash in between loses the payment",
		Twin:    "outbox-claimed",
		Shows:   []string{"effect-mismatch"},
		By:      []string{"crash-before-effect"},
		effects: []contract.Effect{within(oneCharge())},
	}, func(a *api) relayed {
		return relayed{api: a, early: true, first: true, send: func(ctx context.Context, id string, o order) error {
			_, err := a.outside.charge(ctx, id, o)
			return err
		}}
	})
}
