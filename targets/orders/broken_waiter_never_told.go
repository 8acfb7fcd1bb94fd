package orders

import "context"

// waiterNeverTold has repeats wait in memory until the request that came first is through, and tells one of them.
//
// The channel takes the place of a condition variable, and a value that is sent into it is what Signal is: it reaches
// one of those that wait. Its author tested it with two clicks. Of ten copies, one executes, one is told, and eight
// wait for a second value that nobody sends. Their clients see a request that hangs until they give up; the order
// and its record are as they should be, so that nothing else looks wrong.
type waiterNeverTold struct {
	uniqueKey
	turns *turnstile
}

func waiterNeverToldDesign() Design {
	return Design{
		Name:     "waiter-never-told",
		Summary:  "repeats wait in memory for the first request, which wakes one of them and forgets the others: they hang",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "waiters-told",
		Shows:    []string{"unanswered"},
		By:       []string{"burst-same-key"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(waiterNeverTold{newUniqueKey(a), &turnstile{}}.create)
		},
	}
}

func (w waiterNeverTold) create(ctx context.Context, req request) (answer, error) {
	inside, err := w.turns.enter(ctx, req.Key)
	if err != nil {
		return answer{}, err
	}
	if inside {
		defer func() {
			if first := w.turns.leave(req.Key); first.waiting > 0 {
				go func() {
					select {
					case first.through <- struct{}{}:
					case <-w.stopped:
					}
				}()
			}
		}()
	}
	return w.uniqueKey.create(ctx, req)
}
