package driver

import (
	"context"
	"sync"
)

// inParallel runs work for all, so many at a time, and calls done after each, never twice at once. It stops
// starting work when the context ends, and returns when all that it started has ended.
func inParallel[Work any](ctx context.Context, all []Work, atOnce int, work func(context.Context, Work), done func(Work)) {
	queue := make(chan Work)
	var workers sync.WaitGroup
	var telling sync.Mutex
	for range min(atOnce, len(all)) {
		workers.Go(func() {
			for one := range queue {
				work(ctx, one)
				telling.Lock()
				done(one)
				telling.Unlock()
			}
		})
	}
	feed(ctx, queue, all)
	workers.Wait()
}

// feed hands out work until the context ends, and then closes the queue, which ends the
// workers.
func feed[Work any](ctx context.Context, queue chan<- Work, all []Work) {
	defer close(queue)
	for _, one := range all {
		select {
		case queue <- one:
		case <-ctx.Done():
			return
		}
	}
}
