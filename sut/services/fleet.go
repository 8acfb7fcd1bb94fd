package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Fleet is the instances of one service. Safe for concurrent use.
type Fleet []*Service

// StartFleet starts instances one after the other, so that only the first finds nothing there: it may have to
// make tables. If one does not start, none is left.
func StartFleet(ctx context.Context, all []Options) (Fleet, error) {
	var f Fleet
	for i, o := range all {
		s, err := Start(ctx, o)
		if err != nil {
			if len(all) > 1 {
				err = fmt.Errorf("instance %d: %w", i+1, err)
			}
			return nil, errors.Join(err, f.Stop())
		}
		f = append(f, s)
	}
	return f, nil
}

// Ended says how an instance ended by itself, with the last that it printed. The error is nil while all run.
func (f Fleet) Ended() error {
	for i := range f {
		if err := f[i].Ended(); err != nil {
			return f.of(i, err)
		}
	}
	return nil
}

// Tend starts instances again that end by themselves, and tells of each. It goes on until stop, which has a last look.
func (f Fleet) Tend(ctx context.Context, told func(Death)) (stop func()) {
	if len(f) == 0 {
		return func() {}
	}
	look := func() {
		for i, s := range f {
			for _, d := range s.tend(ctx) {
				if len(f) > 1 {
					d.Instance = i + 1
				}
				told(d)
			}
		}
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			look()
			select {
			case <-done:
				look()
				return
			case <-tick.C:
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-over })
}

// Down reports that an instance is being started, or ended by itself and is about to be.
func (f Fleet) Down() bool { return slices.ContainsFunc(f, (*Service).down) }

// Kill is [Service.Kill] for all instances at once.
func (f Fleet) Kill() error { return f.each((*Service).Kill) }

// Restart starts all instances again, at once, and returns when they are ready.
func (f Fleet) Restart(ctx context.Context) error {
	return f.each(func(s *Service) error { return s.Restart(ctx) })
}

// Stop is [Service.Stop] for all instances at once.
func (f Fleet) Stop() error { return f.each((*Service).Stop) }

// each does something with all instances at once. The error is that of the first one by number.
func (f Fleet) each(do func(*Service) error) error {
	errs := make([]error, len(f))
	var all sync.WaitGroup
	for i, s := range f {
		all.Go(func() { errs[i] = do(s) })
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			return f.of(i, err)
		}
	}
	return nil
}

// of says which instance an error is about, where there are several.
func (f Fleet) of(i int, err error) error {
	if len(f) < 2 {
		return err
	}
	return fmt.Errorf("instance %d: %w", i+1, err)
}
