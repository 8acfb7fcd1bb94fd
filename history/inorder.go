package history

import (
	"iter"
	"runtime"
	"sync"
)

// InOrder has all cores work on things, such as the blocks of a history or its parts, and takes what was made of them one after the other,
// in their order. It ends with the first error of take. Things are drawn, and worked on, a few ahead of take only; work must be safe for
// concurrent use.
func InOrder[T, M any](things iter.Seq[T], work func(T) M, take func(M) error) error {
	queue, stop := make(chan chan M, runtime.GOMAXPROCS(0)+1), make(chan struct{})
	var workers sync.WaitGroup
	workers.Go(func() {
		defer close(queue)
		for thing := range things {
			// One channel for each thing, queued in order: the queue is what bounds how
			// far work is ahead.
			made := make(chan M, 1)
			select {
			case queue <- made:
			case <-stop:
				return
			}
			workers.Go(func() { made <- work(thing) })
		}
	})
	defer workers.Wait()
	defer close(stop)
	for made := range queue {
		if err := take(<-made); err != nil {
			return err
		}
	}
	return nil
}
