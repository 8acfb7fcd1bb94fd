package orders

import "context"

// eventWithoutClaimDesign is the outbox with relays that do not tell each other what they publish, to a channel.
//
// Two relays that run at once read the same entry before either has marked it, and who listens hears twice of one order.
func eventWithoutClaimDesign() Design {
	return eventOutboxDesign(Design{
		Name:    "event-without-claim",
		Summary: "an outbox with relays that read, publish to a channel of Redis and then mark what waits: two at once announce one order twice",
		Twin:    "event-outbox-claimed",
		Shows:   []string{"effect-mismatch"},
		By:      []string{"burst-same-key", "double-click"},
	}, relayed{first: true}, eventChannel, func(a *api, at, entry string, o order) error {
		return a.redis.publish(context.Background(), at, entry, o)
	})
}
