package orders

import "encoding/json"

// replayBodyWrappedDesign gives what it has kept to a framework that wraps what it is given.
//
// Handlers write their answers themselves. Replays go through the framework, which puts every value
// into an envelope. Both are valid JSON about the same order, but a client that looks for the id
// where it was the first time does not find it.
func replayBodyWrappedDesign() Design {
	return Design{
		Name:     "replay-body-wrapped",
		Summary:  `puts the body of a replay into an envelope, {"data": ...}, that the first answer does not have`,
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"sequential-replay"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = retold(wrapped) }),
	}
}

func wrapped(first answer) answer {
	first.Body = mustJSON(map[string]json.RawMessage{"data": first.Body})
	return first
}
