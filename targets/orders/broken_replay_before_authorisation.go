package orders

import (
	"context"
	"net/http"
	"sync"
)

// replayBeforeAuthorisationDesign has a cache of answers in front of everything else.
//
// Behind the cache the customers' keys are kept apart, and the cache gives an answer only to the same
// key with the same body. But it stands before the sign-in, where nobody knows yet who asks. Whoever
// has seen a request, in a log or on a shared device, gets its answer with another account or with
// none; so does a customer whose account was closed in the meantime.
func replayBeforeAuthorisationDesign() Design {
	return Design{
		Name:     "replay-before-authorisation",
		Summary:  "replays before it looks at who asks: another customer with the same key and form is shown the first one's order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"leak", "lost-acknowledged-write"},
		By:       []string{"same-form-two-principals", "no-credential"},
		schema:   []string{ordersTable, keysTable},
		accounts: lateSignIn,
		handler:  func(a *api) handler { return cached(signedIn(needKey(newUniqueKey(a).create))) },
	}
}

func cached(next handler) handler {
	type sent struct {
		kind             kind
		key, fingerprint string
	}
	var answers sync.Map // sent: answer
	return func(ctx context.Context, req request) (answer, error) {
		this := sent{req.Kind, req.RawKey, req.Fingerprint}
		if first, found := answers.Load(this); found {
			return first.(answer), nil
		}
		reply, err := next(ctx, req)
		if err == nil && reply.Status == http.StatusCreated {
			answers.Store(this, reply)
		}
		return reply, err
	}
}
