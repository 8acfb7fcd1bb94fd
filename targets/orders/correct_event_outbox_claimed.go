package orders

import "context"

// eventOutboxClaimedDesign is the outbox for events.
//
// A relay that gets no answer publishes again, and there may be two. Both have the id of the entry, by which consumers know it.
func eventOutboxClaimedDesign() Design {
	return eventOutboxDesign(Design{
		Name:    "event-outbox-claimed",
		Summary: "order, key and an entry of the outbox in one transaction; a relay claims each entry and publishes it to a stream of Redis under its id until there is an answer",
		Correct: true,
	}, relayed{claim: true, first: true, own: true}, eventStream, func(a *api, at, entry string, o order) error {
		return a.redis.publish(context.Background(), at, entry, o)
	})
}

// eventOutboxDesign is a design of relayed that publishes to a place in Redis.
func eventOutboxDesign(d Design, relay relayed, at string, publish func(a *api, at, entry string, o order) error) Design {
	return published(outboxDesign(d, func(a *api) relayed {
		own := relay
		own.api = a
		own.send = func(_ context.Context, entry string, o order) error { return publish(a, at, entry, o) }
		return own
	}), at)
}
