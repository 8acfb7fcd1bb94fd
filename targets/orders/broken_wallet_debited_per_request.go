package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// walletDebitedPerRequestDesign debits the wallet, which may not have enough, before it looks at the key.
//
// Each order is there once, with its amount, and all rows are right. The wallet has paid for every request.
func walletDebitedPerRequestDesign() Design {
	return Design{
		Name:     "wallet-debited-per-request",
		Summary:  "debits a wallet by the amount of an order before it looks at the key: a repeat makes no second order, but is paid for again",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "wallet-debited-once",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"sequential-replay", "withheld-answer"},
		effects:  []contract.Effect{balance()},
		schema:   []string{ordersTable, keysTable, walletTable, fullWallet},
		handler: func(a *api) handler {
			next := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				err := a.db.retry(ctx, func() error { return a.db.debit(ctx, req.Kind, req.Order.Amount) })
				if err != nil {
					return answer{}, err
				}
				return next(ctx, req)
			})
		},
	}
}
