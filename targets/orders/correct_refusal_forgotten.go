package orders

import (
	"context"
	"errors"

	"github.com/doubletap-harness/doubletap/contract"
)

// refusalForgotten is unique-key that takes the key before it looks at the amount.
//
// An order that it refuses is rolled back, and its key with it: who corrects the amount orders under the same key.
type refusalForgotten struct{ uniqueKey }

func refusalForgottenDesign() Design {
	return Design{
		Name:     "refusal-forgotten",
		Summary:  "takes the key, then refuses an amount below 1 with 400 and rolls both back: the corrected order is placed under the same key",
		Correct:  true,
		Contract: storing4xx(false),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		read:     readAnyRequest,
		handler: func(a *api) handler {
			u := newUniqueKey(a)
			u.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
				if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
					return err
				}
				if checkAmount(o.Amount, "amount") != nil {
					return errRefused
				}
				return nil
			}
			return needKey(refusalForgotten{u}.create)
		},
	}
}

// errRefused rolls back what was refused.
var errRefused = errors.New("the amount was refused")

func (r refusalForgotten) create(ctx context.Context, req request) (answer, error) {
	reply, err := r.uniqueKey.create(ctx, req)
	if errors.Is(err, errRefused) {
		return refusedAmount(), nil
	}
	return reply, err
}

// refusedAmount refuses an order for its amount.
func refusedAmount() answer { return invalidBody(notAbove0("amount").Error()) }

// storing4xx is exactReplay with a promise of whether a refusal is stored under its key.
func storing4xx(stored bool) contract.Contract {
	promise := exactReplay()
	promise.Errors.Store4xx = &stored
	return promise
}
