package driver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errHeld is what the members of a burst get when one of them never reached the gate.
var errHeld = errors.New("burst was not released: a member did not arrive at the gate in time")

// gate holds the members of a burst at their last byte until all are there.
// Safe for concurrent use.
type gate struct {
	longest time.Duration // that a member is held
	open    chan struct{}

	mu      sync.Mutex
	missing int
}

func newGate(members int, longest time.Duration) *gate {
	return &gate{longest: longest, open: make(chan struct{}), missing: members}
}

// wait announces one member and holds it until every member has announced itself or left.
func (g *gate) wait(ctx context.Context) error {
	g.announce()
	timer := time.NewTimer(g.longest)
	defer timer.Stop()
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return errHeld
	}
}

// announce counts one member as there, or as gone: a member that could not be dialled must not hold
// the others. Each member is announced once.
func (g *gate) announce() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missing--
	if g.missing == 0 {
		close(g.open)
	}
}
