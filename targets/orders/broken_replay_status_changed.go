package orders

import "net/http"

// replayStatusChangedDesign answers a repeat with another status than the first request.
//
// Nothing is created by a repeat, so 200 seems more honest than 201. But the contract promises the
// same answer again. A client that lost the 201 and waits for one takes the 200 for something else.
func replayStatusChangedDesign() Design {
	return Design{
		Name:     "replay-status-changed",
		Summary:  "answers 201 first and 200 to a repeat, and promises the same answer",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"sequential-replay"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = retold(as200) }),
	}
}

func as200(first answer) answer {
	first.Status = http.StatusOK
	return first
}
