package orders

import (
	"context"
	"encoding/json"
	"fmt"
)

// replayPathCrashesDesign cannot read what it has recorded.
//
// The duplicate is found and no second order is made. But the amount, a text when the replay was
// written, is a number today, and no test sends a request twice. The client that lost its answer gets
// a 500 however often it asks, and cannot learn that its order exists.
func replayPathCrashesDesign() Design {
	return Design{
		Name:     "replay-path-crashes",
		Summary:  "fails to read its own record: the order is there once, and every repeat gets a 500",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"refused-though-done"},
		By:       []string{"sequential-replay"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = replayOutdated }),
	}
}

func replayOutdated(_ context.Context, first record, _ request) (answer, error) {
	var outdated struct {
		ID     string `json:"id"`
		Amount string `json:"amount"`
	}
	if err := json.Unmarshal(first.Answer.Body, &outdated); err != nil {
		return answer{}, fmt.Errorf("read the recorded answer: %w", err)
	}
	return jsonAnswer(first.Answer.Status, outdated), nil
}
