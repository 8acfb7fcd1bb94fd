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

// barrier releases the members of a burst together. Each member sends all but its last
// byte, arrives, and waits until all others have arrived or are known not to come. The
// last of them to arrive releases all. So what spreads a burst (connecting, latency, slow
// writes) is over before it starts.
//
// A member that comes after the longest time that a burst waits goes on alone. Before and
// after are where a write gate and a crash hook in. Safe for concurrent use.
type barrier struct {
	ctx      context.Context // when it ends, no member is released any more
	before   func()          // done before the first is released; may take its time. nil: nothing
	after    func()          // done when all have been released. nil: nothing
	over     chan struct{}   // closed when all of that has been done
	releaser *releaser

	mu         sync.Mutex
	missing    int
	open       bool
	waiting    []*member     // in the order of arrival
	unanswered int           // members that have no answer yet, and may still get one
	all        chan struct{} // closed when there are none; nil: there is one member only
}

// newBarrier makes a barrier. Its fields may be set until the first member arrives. Stop is called when the
// burst is over, and waits for what the barrier does.
func newBarrier(ctx context.Context, r *releaser, members int, longest time.Duration) (b *barrier, stop func()) {
	b = &barrier{ctx: ctx, releaser: r, over: make(chan struct{}), missing: members, unanswered: members}
	if members > 1 {
		b.all = make(chan struct{})
	}
	tooLong := time.AfterFunc(longest, b.release)
	calledOff := context.AfterFunc(ctx, b.release)
	return b, func() {
		tooLong.Stop()
		calledOff()
		if b.opens() {
			return
		}
		<-b.over
	}
}

// member is one request of a burst (an h2.Member). Only its first call of Arrive or leave counts.
type member struct {
	barrier *barrier
	later   time.Duration // after the barrier has opened
	once    sync.Once
	release func()
	over    sync.Once     // it is answered, or will not be
	due     atomic.Bool   // it is released now, with all others of its wave
	gone    chan struct{} // closed when the member has been released, or never will be
}

// member makes a member. There have to be as many as newBarrier was told.
func (b *barrier) member() *member { return &member{barrier: b, gone: make(chan struct{})} }

// Arrive says that the member waits at the barrier; release sends its last byte.
func (m *member) Arrive(release func()) {
	m.once.Do(func() {
		m.release = release
		m.barrier.arrive(m)
	})
}

// leave says that the member will not come: it must not hold the others.
func (m *member) leave() { m.Arrive(func() {}) }

// answered says that the target has begun to answer the member, or never will. The channel that it returns is closed when that is so
// of all; nil: there are no others, for whose sake an answer would be kept.
func (m *member) answered() <-chan struct{} {
	b := m.barrier
	m.over.Do(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.unanswered--; b.unanswered == 0 && b.all != nil {
			close(b.all)
		}
	})
	return b.all
}

// allAnswered reports that all members of the burst have been answered.
func (m *member) allAnswered() bool {
	select {
	case <-m.answered():
		return true
	default:
		return m.barrier.all == nil
	}
}

// Wait returns when the member has been released, or the run was stopped.
func (m *member) Wait() error {
	<-m.gone
	return m.barrier.ctx.Err()
}

// Due reports that the member is being released.
func (m *member) Due() bool { return m.due.Load() }

// waitAtMost does the same for a member whose last byte still has to reach the barrier: it is lost on its way if it
// is not there so long after the others were released.
func (m *member) waitAtMost(longest time.Duration) error {
	ctx := m.barrier.ctx
	select {
	case <-m.gone:
		return ctx.Err()
	case <-m.barrier.over:
	}
	lost := time.NewTimer(longest)
	defer lost.Stop()
	select {
	case <-m.gone:
	case <-ctx.Done():
	case <-lost.C:
		return os.ErrDeadlineExceeded
	}
	return ctx.Err()
}

// arrive counts a member in, and opens the barrier with the last one. A late one is
// released at once, as a wave of its own.
func (b *barrier) arrive(m *member) {
	b.mu.Lock()
	late := b.open
	if !late {
		b.waiting = append(b.waiting, m)
		b.missing--
	}
	complete := b.missing == 0
	b.mu.Unlock()
	switch {
	case late:
		b.wave([]*member{m})
	case complete:
		b.release()
	}
}

// opens marks the barrier as open and reports whether it was not.
func (b *barrier) opens() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !b.open
	b.open = true
	return first
}

// release opens the barrier once: called by the last member, by the timer of the longest
// wait, and at the end of the context. What takes time gets a goroutine of its own. The
// rest is done by the member that came last: another goroutine would wake more threads,
// which compete with the target for the processor.
func (b *barrier) release() {
	if !b.opens() {
		return
	}
	atOnce := !slices.ContainsFunc(b.waiting, func(m *member) bool { return m.later > 0 })
	if b.before == nil && b.after == nil && atOnce {
		b.releaseWaves()
		return
	}
	go b.releaseWaves()
}

// releaseWaves releases the members, each at its time. Those with the same time are one
// wave: they are released together, not one sleep after the other.
func (b *barrier) releaseWaves() {
	defer close(b.over)
	if b.before != nil && b.ctx.Err() == nil {
		b.before()
	}
	slices.SortStableFunc(b.waiting, func(x, y *member) int { return cmp.Compare(x.later, y.later) })
	opened := time.Now()
	for rest := b.waiting; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(m *member) bool { return m.later > rest[0].later })
		if n < 0 {
			n = len(rest)
		}
		sleepUntil(b.ctx, opened.Add(rest[0].later))
		b.wave(rest[:n])
		rest = rest[n:]
	}
	if b.after != nil {
		b.after()
	}
}

// wave releases members together. Those who wait for it are woken after the last of them
// has been released: their work would delay the rest. All are marked as due before the
// first is released, as in HTTP/2 one write sends the last frames of all that are due.
func (b *barrier) wave(members []*member) {
	if b.ctx.Err() == nil {
		all := make([]func(), 0, len(members))
		for _, m := range members {
			m.due.Store(true)
			all = append(all, m.release)
		}
		b.releaser.together(all)
	}
	for _, m := range members {
		close(m.gone)
	}
}

// timerSlack is how late a timer may fire: that part of a wait is spent polling the clock.
const timerSlack = 1500 * time.Microsecond

// sleepUntil waits for a moment, to some microseconds, or until the context ends. A timer
// alone may be over 1 ms late, which is longer than many races are open, so the end of the
// wait polls the clock.
func sleepUntil(ctx context.Context, at time.Time) {
	sleep(ctx, time.Until(at)-timerSlack)
	for time.Now().Before(at) && ctx.Err() == nil {
		runtime.Gosched()
	}
}
