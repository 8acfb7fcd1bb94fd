package orders

import "github.com/doubletap-harness/doubletap/contract"

// replayMarkerDesign says of each replay that it is one, in a header.
func replayMarkerDesign() Design {
	promise := exactReplay()
	promise.Replay.Marker = &contract.ReplayMarker{Name: "Idempotent-Replayed", Value: "true", Required: true}
	return Design{
		Name:     "replay-marker",
		Summary:  "repeats the recorded answer with the header Idempotent-Replayed: true",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = retold(marked) }),
	}
}

func marked(first answer) answer { return first.with("Idempotent-Replayed", "true") }
