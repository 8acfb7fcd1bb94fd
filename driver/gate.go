package driver

import (
	"context"
	"sync"
	"time"
)

// gate lets the members of a burst go together: each waits at its last byte until all others are
// there, or are known not to come. A member that is late for the longest time that a burst waits goes
// on alone. Safe for concurrent use.
type gate struct {
	ctx    context.Context // when it ends, nobody is let go any more
	opened chan struct{}   // closed when the members have been let go, or never will be

	mu       sync.Mutex
	missing  int
	open     bool
	releases []func()
}

// newGate makes a gate. Stop is called when the burst is over.
func newGate(ctx context.Context, members int, longest time.Duration) (g *gate, stop func()) {
	g = &gate{ctx: ctx, opened: make(chan struct{}), missing: members}
	tooLong := time.AfterFunc(longest, g.release)
	calledOff := context.AfterFunc(ctx, g.release)
	return g, func() {
		tooLong.Stop()
		calledOff()
	}
}

// seat is one member's place at the gate. Only its first call counts.
type seat struct {
	*gate
	once sync.Once
}

// arrive says that the member stands at the gate; release lets its last byte go.
func (s *seat) arrive(release func()) { s.once.Do(func() { s.gate.arrive(release) }) }

// leave says that the member will not come: it must not hold the others.
func (s *seat) leave() { s.once.Do(func() { s.gate.arrive(func() {}) }) }

// wait returns when nobody is let go any more: all have been, or the run was called off.
func (g *gate) wait() error {
	<-g.opened
	return g.ctx.Err()
}

func (g *gate) arrive(release func()) {
	g.mu.Lock()
	late := g.open
	if !late {
		g.releases = append(g.releases, release)
		g.missing--
	}
	complete := g.missing == 0
	g.mu.Unlock()
	switch {
	case late && g.ctx.Err() == nil:
		release()
	case complete:
		g.release()
	}
}

// release opens the gate once and lets the members go, one after the other with nothing in between.
// Those who wait for it are woken after.
func (g *gate) release() {
	g.mu.Lock()
	first := !g.open
	g.open = true
	g.mu.Unlock()
	if !first {
		return
	}
	for _, letGo := range g.releases {
		if g.ctx.Err() == nil {
			letGo()
		}
	}
	close(g.opened)
}
