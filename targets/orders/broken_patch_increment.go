package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// patchIncrement adds to the amount of an order what the request says.
//
// The statement is one and atomic, so that no addition is lost, however many come at once. That is what was
// tested. But "add 1100" is not what the order is to be, it is what is to be done, and it is done once for each copy:
// a double click adds 2200. There is one order before and after, as many as there should be, and nobody who counts
// them sees anything. It takes a key that says which additions are one, or a body that says the sum.
type patchIncrement struct{ *api }

func patchIncrementDesign() Design {
	return Design{
		Name:     "patch-increment",
		Summary:  "PATCH says how much to add to the amount of an order, and each copy adds: a repeat makes no second order, but adds twice",
		Contract: oncePerPath(),
		Twin:     "patch-absolute",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"sequential-replay", "burst-same-key", "withheld-answer"},
		effects:  []contract.Effect{amount()},
		schema:   []string{ordersTable},
		handler:  func(a *api) handler { return a.createWithoutKey },
		routes:   func(a *api, mux *http.ServeMux) { a.changes(mux, patchIncrement{a}.add) },
		describe: func(o *targets.Operation, of kind) {
			describeChange(o, of, map[string]any{"add": 1100})
			o.Prepare[0].Request.Body["amount"] = 100
			o.Rows.Query += " and amount > 100"
			o.Invalid = map[string]any{"add": -1}
			o.Rows.Content = nil // the request does not say what the row holds
		},
	}
}

func (p patchIncrement) add(ctx context.Context, c change) (answer, error) {
	more, err := readAmount(c.Members, "add")
	if err != nil {
		return invalidBody(err.Error()), nil
	}
	return p.rewrite(ctx, c, "amount = amount + ?", more)
}
