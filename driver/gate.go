package driver

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gate lets the members of a burst go: each waits at its last byte until all others are there, or are
// known not to come. A member that is late for the longest time that a burst waits goes on alone. Safe
// for concurrent use.
type gate struct {
	ctx    context.Context // when it ends, nobody is let go any more
	before func()          // done before the first is let go; may take its time. nil: nothing
	after  func()          // done when all have been let go. nil: nothing
	over   chan struct{}   // closed when all that is to be done has been
	burst  *releaser

	mu      sync.Mutex
	missing int
	open    bool
	waiting []*seat // in the order of arrival
}

// newGate makes a gate. Its fields may be set until the first member arrives. Stop is called when the
// burst is over, and waits for what the gate does.
func newGate(ctx context.Context, burst *releaser, members int, longest time.Duration) (g *gate, stop func()) {
	g = &gate{ctx: ctx, burst: burst, over: make(chan struct{}), missing: members}
	tooLong := time.AfterFunc(longest, g.release)
	calledOff := context.AfterFunc(ctx, g.release)
	return g, func() {
		tooLong.Stop()
		calledOff()
		if g.opens() {
			return
		}
		<-g.over
	}
}

// seat is one member's place at the gate. Only its first call counts.
type seat struct {
	*gate
	later time.Duration // after the gate has opened
	once  sync.Once
	letGo func()
	due   atomic.Bool   // it is let go now, with all others of its wave
	gone  chan struct{} // closed when the member has been let go, or never will be
}

func (g *gate) seat() *seat { return &seat{gate: g, gone: make(chan struct{})} }

// arrive says that the member stands at the gate; letGo lets its last byte go.
func (s *seat) arrive(letGo func()) {
	s.once.Do(func() {
		s.letGo = letGo
		s.gate.arrive(s)
	})
}

// leave says that the member will not come: it must not hold the others.
func (s *seat) leave() { s.arrive(func() {}) }

// wait returns when the member is not let go any more: it has been, or the run was called off.
func (s *seat) wait() error {
	<-s.gone
	return s.ctx.Err()
}

// waitAtMost does the same for a member whose last byte has still to come to the gate: it is lost on its way if it
// is not there so long after the others were let go.
func (s *seat) waitAtMost(longest time.Duration) error {
	select {
	case <-s.gone:
		return s.ctx.Err()
	case <-s.over:
	}
	lost := time.NewTimer(longest)
	defer lost.Stop()
	select {
	case <-s.gone:
	case <-s.ctx.Done():
	case <-lost.C:
		return os.ErrDeadlineExceeded
	}
	return s.ctx.Err()
}

func (g *gate) arrive(s *seat) {
	g.mu.Lock()
	late := g.open
	if !late {
		g.waiting = append(g.waiting, s)
		g.missing--
	}
	complete := g.missing == 0
	g.mu.Unlock()
	switch {
	case late:
		g.wave([]*seat{s})
	case complete:
		g.release()
	}
}

// opens marks the gate as open and reports whether it was not.
func (g *gate) opens() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !g.open
	g.open = true
	return first
}

// release opens the gate once. What takes its time is not left to the member that came last. The rest is:
// another goroutine would wake more threads, which are in the target's way.
func (g *gate) release() {
	if !g.opens() {
		return
	}
	atOnce := !slices.ContainsFunc(g.waiting, func(s *seat) bool { return s.later > 0 })
	if g.before == nil && g.after == nil && atOnce {
		g.letAllGo()
		return
	}
	go g.letAllGo()
}

// letAllGo lets the members go, each at its time.
func (g *gate) letAllGo() {
	defer close(g.over)
	if g.before != nil && g.ctx.Err() == nil {
		g.before()
	}
	slices.SortStableFunc(g.waiting, func(a, b *seat) int { return cmp.Compare(a.later, b.later) })
	opened := time.Now()
	for rest := g.waiting; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(s *seat) bool { return s.later > rest[0].later })
		if n < 0 {
			n = len(rest)
		}
		until(g.ctx, opened.Add(rest[0].later))
		g.wave(rest[:n])
		rest = rest[n:]
	}
	if g.after != nil {
		g.after()
	}
}

// wave lets members go at once. Those who wait for it are woken after.
func (g *gate) wave(members []*seat) {
	if g.ctx.Err() == nil {
		all := make([]func(), 0, len(members))
		for _, s := range members {
			s.due.Store(true)
			all = append(all, s.letGo)
		}
		g.burst.together(all)
	}
	for _, s := range members {
		close(s.gone)
	}
}

// timers is how late a timer may be: the last of a wait is spent looking at the clock.
const timers = 1500 * time.Microsecond

// until waits for a moment, to some microseconds, or until the context ends.
func until(ctx context.Context, at time.Time) {
	sleep(ctx, time.Until(at)-timers)
	for time.Now().Before(at) && ctx.Err() == nil {
		runtime.Gosched()
	}
}
