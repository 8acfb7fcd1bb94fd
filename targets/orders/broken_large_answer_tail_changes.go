package orders

import "sync/atomic"

// largeAnswerTailChangesDesign looks at the payment again for each replay of a large answer, and says what it finds.
//
// Whoever compares only the beginning of the answers, or asks for an order and looks at its id, sees nothing: what differs
// stands behind 100 KiB of terms.
func largeAnswerTailChangesDesign() Design {
	return Design{
		Name:     "large-answer-tail-changes",
		Summary:  "replays of large answers alternate between paid and refused, far behind their beginning",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "answers-packed",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"large-answer"},
		schema:   []string{ordersTable, keysTable},
		describe: describeSizes,
		handler: func(a *api) handler {
			var replays atomic.Int64
			return sizedReplays(recordsAll, replayOfLarge(func(members map[string]any) {
				members["verdict"] = "paid"
				if replays.Add(1)%2 == 0 {
					members["verdict"] = "refused"
				}
			}))(a)
		},
	}
}

func recordsAll(answer) bool { return true }
