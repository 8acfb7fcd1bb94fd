package orders

import (
	"context"
	"database/sql"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
)

// copyToldNotFoundDesign answers a repetition with the order that its key has made.
//
// The key is claimed before the work begins, so that nothing is made twice. A request that finds the key claimed reads the order of that
// key and answers it, which is right once there is one. While the first request works there is none yet, and the look finds nothing: the
// client that pressed twice is told that there is no such thing, about an order that it gets a moment later. A look under an older
// snapshot, behind "insert ignore", comes to the same.
func copyToldNotFoundDesign() Design {
	promise := turningAway()
	promise.Lease = contract.Duration(lease + defaultWork)
	return Design{
		Name:     "copy-told-not-found",
		Summary:  "a copy that meets the running request reads an order that is not there yet, and is told 404",
		Contract: promise,
		Key:      requiredKey(),
		Twin:     "in-progress-409",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"burst-same-key", "tabs-one-key", "enter-plus-click"},
		schema:   []string{ordersTable, leasedKeysTable},
		handler: func(a *api) handler {
			return needKey(lookedUpTooEarly(inProgress409{a, lease + a.effort}.create))
		},
	}
}

func lookedUpTooEarly(next handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		reply, err := next(ctx, req)
		if err == nil && reply.Status == http.StatusConflict {
			return notFound(sql.ErrNoRows), nil
		}
		return reply, err
	}
}
