package orders

import "context"

// cachedTransient5xxDesign records whatever it answers, and so also that it failed.
//
// Nothing of a failed request remains, so it could be tried again. But its 500 was an answer like any
// other, and stands in the record: the reason is over after a moment, and the key is dead for ever.
// Here the reason is a client that leaves, with which the context of its request ends.
func cachedTransient5xxDesign() Design {
	promise := exactReplay()
	promise.Errors.Store5xx = new(false)
	return Design{
		Name:     "cached-transient-5xx",
		Summary:  "records failures like answers: after one that has passed, every repeat of the key gets its 500",
		Contract: promise,
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"stored-error"},
		By:       []string{"slow-road", "impatient-retry"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(cachedTransient5xx{newUniqueKey(a)}.create) },
	}
}

type cachedTransient5xx struct{ uniqueKey }

func (c cachedTransient5xx) create(ctx context.Context, req request) (answer, error) {
	reply, err := c.uniqueKey.create(ctx, req)
	if err == nil {
		return reply, nil
	}
	reply = failed(err)
	err = c.db.insertKey(context.WithoutCancel(ctx), req, reply)
	if isDuplicate(err) {
		err = nil // another request has stored an answer for this key
	}
	return reply, err
}
