package orders

import "net/http"

// replay200Design answers 201 to the request that creates the order and 200 to its repeats, and says
// so in its contract.
func replay200Design() Design {
	promise := exactReplay()
	promise.Replay.Status = map[int][]int{http.StatusCreated: {http.StatusOK}}
	return Design{
		Name:     "replay-200",
		Summary:  "answers 201 first and 200 to a repeat, as its contract says",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = retold(as200) }),
	}
}
