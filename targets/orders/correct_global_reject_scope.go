package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// globalRejectScopeDesign has one row per key for all customers, and refuses a key that another one
// has used. The refusal shows nothing of the other's order, nor of its body: it looks the same for
// equal and for other bodies.
func globalRejectScopeDesign() Design {
	promise := exactReplay()
	promise.Scope.Principal = contract.ScopeReject
	return Design{
		Name:     "global-reject-scope",
		Summary:  "a key belongs to the customer who used it first: any other is refused with 409 and told nothing",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(a *api, p *parts) {
			p.key = func(req request) string { return string(req.Kind) + " " + req.RawKey }
			p.replay = a.replayToOwner
		}),
	}
}

func (a *api) replayToOwner(ctx context.Context, first record, req request) (answer, error) {
	o, err := a.db.orderWhere(ctx, "id = ?", first.orderID())
	if err != nil {
		return answer{}, err
	}
	if o.Customer != req.Customer {
		return problem(http.StatusConflict, "key_unavailable", "choose another key"), nil
	}
	return first.replayTo(req), nil
}
