package orders

import "context"

// eventRetriedInLoopDesign publishes an event up to three times until there is no error.
//
// The server had the first one, and its answer was lost. Each try draws a new id, so that its consumers take two events for two orders.
func eventRetriedInLoopDesign() Design {
	return eventOutboxDesign(Design{
		Name:    "event-retried-in-loop",
		Summary: "an outbox whose relay publishes up to three times until there is no error, each time under a new id: an event whose answer was lost is there twice",
		Twin:    "event-outbox-claimed",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"store-cut"},
	}, relayed{claim: true, first: true, own: true}, eventStream, func(a *api, at, _ string, o order) (err error) {
		for range tries {
			if err = a.redis.publish(context.Background(), at, newID("event_"), o); err == nil {
				return nil
			}
		}
		return err
	})
}
