package orders

import "time"

// throttledForAWhileDesign throttles keys whose request failed, for a moment that a client with patience waits for.
func throttledForAWhileDesign() Design {
	const penalty = 500 * time.Millisecond
	return Design{
		Name:     "throttled-for-a-while",
		Summary:  "throttles a key whose request failed, for half a second",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(throttledAfterFailure(newUniqueKey(a).create, func(failed time.Time) bool { return time.Since(failed) < penalty }))
		},
	}
}
