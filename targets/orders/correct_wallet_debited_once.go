package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// walletDebitedOnceDesign debits the wallet in the transaction that writes the order and its key.
func walletDebitedOnceDesign() Design {
	return Design{
		Name:     "wallet-debited-once",
		Summary:  "order, key and the debit of its amount from a wallet in one transaction",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		effects:  []contract.Effect{balance()},
		schema:   []string{ordersTable, keysTable, walletTable, fullWallet},
		handler: varied(func(_ *api, p *parts) {
			p.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
				if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
					return err
				}
				return tx.debit(ctx, o.Kind, o.Amount)
			}
		}),
	}
}
