package orders

import "context"

// eventBeforeCommitDesign publishes that there is an order between the order and its key, inside the transaction.
//
// Redis is no part of that. Where the key turns out to be taken, the order is rolled back, and its consumers have heard of it.
func eventBeforeCommitDesign() Design {
	return published(Design{
		Name:     "event-before-commit",
		Summary:  "writes the order, publishes its event to a stream of Redis, then writes the key and commits: what is rolled back was announced",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "event-outbox-claimed",
		Shows:    []string{"effect-mismatch", "downstream-key-changed", "effect-before-commit"},
		By:       []string{"burst-same-key", "tabs-one-key"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return toldBeforeKey(a, func(ctx context.Context, o order) error { return a.redis.publish(ctx, eventStream, newID("event_"), o) })
		},
	}, eventStream)
}
