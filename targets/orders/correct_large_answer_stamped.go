package orders

import "sync/atomic"

// largeAnswerStampedDesign numbers the copies of a large answer, far behind its beginning, and says so: the number of the
// copy may differ, and nothing else does.
func largeAnswerStampedDesign() Design {
	promise := exactReplay()
	promise.Replay.Ignore = append(promise.Replay.Ignore, "/copy")
	return Design{
		Name:     "large-answer-stamped",
		Summary:  "replays of large answers have the number of the copy behind their terms, which the contract leaves out",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		describe: describeSizes,
		handler: func(a *api) handler {
			var copies atomic.Int64
			return sizedReplays(recordsAll, replayOfLarge(func(members map[string]any) {
				members["copy"] = copies.Add(1)
			}))(a)
		},
	}
}
