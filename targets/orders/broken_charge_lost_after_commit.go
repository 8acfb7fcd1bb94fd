package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// chargeLostAfterCommitDesign has the payment taken once the order is there, and leaves it at that if the service is away.
//
// The order counts, the client has its answer, and a repetition gets it again: nobody asks for the payment a second time.
func chargeLostAfterCommitDesign() Design {
	return Design{
		Name:     "charge-lost-after-commit",
		Summary:  "commits the order, then has the payment taken, and only logs it if that fails: an order that nobody pays for",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "charge-key-derived",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"dependency-cut", "crash-before-effect"},
		effects:  []contract.Effect{oneCharge()},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return afterCommit(a, func(ctx context.Context, id string, o order) error {
				_, _ = a.outside.charge(context.WithoutCancel(ctx), id, o) // an alarm, and nobody looks at it
				return nil
			})
		},
	}
}
