package driver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// longestHold bounds the time that a burst waits for its slowest member.
const longestHold = 10 * time.Second

// errHeld is what the members of a burst get when one of them never reached the gate.
var errHeld = errors.New("burst was not released: a member did not arrive at the gate in time")

// gate holds the members of a burst at their last byte until all are there.
// Safe for concurrent use.
type gate struct {
	mu      sync.Mutex
	missing int
	open    chan struct{}
}

func newGate(members int) *gate { return &gate{missing: members, open: make(chan struct{})} }

// wait announces one member and holds it until every member has announced itself or left.
func (g *gate) wait(ctx context.Context) error {
	g.announce()
	timer := time.NewTimer(longestHold)
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
