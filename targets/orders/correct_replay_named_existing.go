package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// replayNamedExistingDesign answers a duplicate with 200 and the id of the order that is there, and its contract names
// that answer.
func replayNamedExistingDesign() Design {
	promise := exactReplay()
	promise.Ack.Statuses = []int{http.StatusCreated}
	promise.Existing = contract.Existing{
		Signature: contract.Signature{Statuses: []int{http.StatusOK}}, Identity: contract.Identity{JSON: "/id"},
	}
	return Design{
		Name:     "replay-named-existing",
		Summary:  "answers a duplicate with 200 and the id of the order that exists, as its contract says",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = tellID }),
	}
}

func tellID(_ context.Context, first record, req request) (answer, error) {
	if first.Fingerprint != req.Fingerprint {
		return keyReused(), nil
	}
	return jsonAnswer(http.StatusOK, map[string]string{"id": first.orderID()}), nil
}
