package orders

import "context"

// ackBeforeDurableEnqueue promises the order, and has what is to be done in its memory only.
//
// The answer must be quick, so the handler commits the key and an operation, hands the order to a worker,
// and says 202. A repeat gets the same operation, the status resource says how far it is, and no test has
// ever found an order missing. Then a deploy ends the process, and with it the queue of the worker. The
// operation runs for ever: clients that ask are told to wait, and what was ordered is lost. What
// is promised must be where it survives before it is promised.
type ackBeforeDurableEnqueue struct{ accepted202 }

func ackBeforeDurableEnqueueDesign() Design {
	d := accepted202Design()
	d.Name, d.Correct, d.resume = "ack-before-durable-enqueue", false, nil
	d.Summary = "answers 202 and has the work in its memory: a crash between the answer and the order, and there is none for ever"
	d.Twin = "accepted-202"
	d.Shows, d.By = []string{"stuck-key"}, []string{"crash-sweep", "crash-between"}
	d.handler = func(a *api) handler { return needKey(ackBeforeDurableEnqueue{accepted202{a}}.create) }
	return d
}

func (c ackBeforeDurableEnqueue) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	op, o, reply := c.promise(req)
	err := c.db.retry(ctx, func() error {
		return c.db.transaction(ctx, func(tx *tx) error { return tx.insertPromise(ctx, req, op, o, reply, "") })
	})
	if isDuplicate(err) {
		first, err := c.db.recordOf(ctx, req.Key)
		return first.replayTo(req), err
	}
	if err == nil {
		c.later(func() { c.finish(ctx, op, o) })
	}
	return reply, err
}
