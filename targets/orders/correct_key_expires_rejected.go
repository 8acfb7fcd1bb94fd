package orders

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// keyExpiresRejectedDesign replays for 2s. The row of a key stays for ever: a later request is told
// that the key was used long ago, and nothing is executed.
func keyExpiresRejectedDesign() Design {
	promise := exactReplay()
	promise.Expiry = contract.Expiry{
		After: contract.Duration(kept), Then: contract.ExpiryReject,
		Signature: problemSignature(http.StatusPreconditionFailed, "key_expired"),
	}
	return Design{
		Name:     "key-expires-rejected",
		Summary:  "replays for 2s: afterwards the key is refused with 412, and nothing is executed",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(a *api, p *parts) { p.replay = a.replayForAWhile }),
	}
}

func (a *api) replayForAWhile(ctx context.Context, first record, req request) (answer, error) {
	o, err := a.db.orderWhere(ctx, "id = ?", first.orderID())
	if err != nil {
		return answer{}, err
	}
	since, err := time.Parse(time.RFC3339Nano, o.CreatedAt)
	if err != nil {
		return answer{}, fmt.Errorf("read the age of %s: %w", o.ID, err)
	}
	if time.Since(since) > kept {
		return problem(http.StatusPreconditionFailed, "key_expired", "this key was used long ago"), nil
	}
	return first.replayTo(req), nil
}
