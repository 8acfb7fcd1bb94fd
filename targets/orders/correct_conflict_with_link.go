package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// conflictWithLinkDesign replays nothing. A request that repeats a key, with any body, is answered that its
// order exists, and which one it is (GoCardless does this).
func conflictWithLinkDesign() Design {
	return Design{
		Name:    "conflict-with-link",
		Summary: "answers a repeat of a key with 409 and the id of the order that exists",
		Correct: true,
		Contract: contract.Contract{
			Level:      contract.DedupOnly,
			Scope:      exactReplay().Scope,
			Ack:        contract.Ack{Signature: contract.Signature{Statuses: []int{http.StatusCreated}}},
			Existing:   contract.Existing{Signature: problemSignature(http.StatusConflict, "already_exists"), Identity: contract.Identity{JSON: "/id"}},
			MissingKey: exactReplay().MissingKey,
		},
		Key:     requiredKey(),
		schema:  []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) { p.replay = pointToFirst }),
	}
}

func pointToFirst(_ context.Context, first record, _ request) (answer, error) {
	return alreadyExists(first.orderID()), nil
}
