package orders

import (
	"context"
	"fmt"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// The places in Redis where designs publish that an order was made: a stream whose consumers know events by their id, a list of jobs
// whose worker does, too, and a channel, to which nobody listens twice.
const (
	eventStream  = "events"
	jobList      = "jobs"
	eventChannel = "announcements"
)

// brokers are the sinks that read there.
func brokers() map[string]targets.Sink {
	known := targets.MessageParts{Key: "id", Type: "type", Idempotent: true}
	return map[string]targets.Sink{
		eventStream:  {Redis: &targets.RedisSink{Stream: eventStream, Message: known}},
		jobList:      {Redis: &targets.RedisSink{List: jobList, Message: known}},
		eventChannel: {Redis: &targets.RedisSink{Channel: eventChannel}},
	}
}

// oneEvent is what an order has besides its row.
func oneEvent(at string) contract.Effect { return contract.Effect{Name: "event", Seen: at} }

// published is a design that publishes an event for an order, and nothing for a quote.
func published(d Design, at string) Design {
	d.Redis, d.effects = true, []contract.Effect{within(oneEvent(at))}
	return d
}

// publish publishes under an id that an order was made. After an error it is unknown whether it was.
func (s *redisStore) publish(ctx context.Context, at, id string, o order) error {
	if o.Kind == kindQuote {
		return nil
	}
	event := mustJSON(map[string]any{"id": id, "type": "order.created", "note": o.Note, "amount": o.Amount})
	var err error
	switch at {
	case eventStream:
		err = s.do(ctx, "XADD", s.prefix+at, "*", "id", id, "type", "order.created", "payload", event)
	case jobList:
		err = s.do(ctx, "RPUSH", s.prefix+at, event)
	default:
		err = s.do(ctx, "PUBLISH", s.prefix+at, event)
	}
	if err != nil {
		return fmt.Errorf("publish the event: %w", err)
	}
	return nil
}
