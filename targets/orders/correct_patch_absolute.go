package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// patchAbsolute sets the amount of an order to what the request says.
//
// PATCH by itself promises nothing about a repeat: it is as good as what its body says. This one says how the
// order is to be, and not what is to be done to it. The second copy finds the order as it wants it and writes the
// same again; copies that meet wait for each other at the row. There is no key to remember, and no answer: the
// order is both. What this does not promise is that nobody else has changed the amount between two copies, for the
// late one would set it back.
type patchAbsolute struct{ *api }

func patchAbsoluteDesign() Design {
	return Design{
		Name:     "patch-absolute",
		Summary:  "PATCH says what the amount of an order is to be, no idempotency key: a repeat sets the same again",
		Correct:  true,
		Contract: oncePerPath(),
		effects:  []contract.Effect{amount()},
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return a.createWithoutKey },
		routes:   func(a *api, mux *http.ServeMux) { a.changes(mux, patchAbsolute{a}.set) },
		describe: func(o *targets.Operation, of kind) {
			describeChange(o, of, map[string]any{"amount": 1200})
			o.Prepare[0].Request.Body["amount"] = 100
			o.Rows.Query += " and amount = 1200"
			o.Invalid = map[string]any{"amount": -1}
		},
	}
}

// amount is that of an order that was changed as it was asked to be.
func amount() contract.Effect {
	return contract.Effect{
		Name:  "amount",
		Query: "select amount from orders where note = :marker and kind = 'order'",
		Value: new(1200.0),
	}
}

func (p patchAbsolute) set(ctx context.Context, c change) (answer, error) {
	amount, err := readAmount(c.Members, "amount")
	if err != nil {
		return invalidBody(err.Error()), nil
	}
	return p.rewrite(ctx, c, "amount = ?", amount)
}
