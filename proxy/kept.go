package proxy

import (
	"slices"
	"time"
)

// keptFor is how long a connection is kept for the next dial. It is short, as a server may have one worker for each connection,
// who waits meanwhile for what comes on this one.
const keptFor = 100 * time.Millisecond

// Keep closes the connection for its client, as Close does, and leaves what is under it to the next dial to the same place, if that
// comes soon. Call it when the answer was read whole, both sides may go on (RFC 9112, section 9.3), and nothing else is under way on it. Only
// a lane without faults keeps connections: one that is kept would meet them in another way than a new one. False: it was not
// kept, and is still to be closed.
func (c *conn) Keep() bool {
	l := c.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.plain || l.barred || l.tap == nil || l.doubtful.Load() || !c.tap.leftOpen() || c.closed.Swap(true) {
		return false
	}
	c.tap.recordEnd()
	_ = c.tcp.SetDeadline(time.Time{})
	delete(l.clients, c)
	instance, next := c.tap.instance, l.client(c.tcp, c.tap)
	l.idle[instance] = append(l.idle[instance], next)
	time.AfterFunc(l.keptFor, func() {
		if l.takeIdle(instance, next) {
			_ = next.Close()
		}
	})
	return true
}

// takeIdle takes a connection to an instance from those that are kept, and reports whether it was among them.
func (l *lane) takeIdle(instance int, c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.idle[instance]
	i := slices.Index(all, c)
	if i < 0 {
		return false
	}
	l.idle[instance] = slices.Delete(all, i, i+1)
	return true
}

// lastIdle takes the connection to an instance that was kept last; nil: there is none.
func (l *lane) lastIdle(instance int) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.idle[instance]
	if len(all) == 0 || l.barred {
		return nil
	}
	l.idle[instance] = all[:len(all)-1]
	return all[len(all)-1]
}

// reuse returns a connection that was kept, with a tap of its own for the exchange to come; nil: there is none that both sides
// have open.
func (l *lane) reuse(instance int) *conn {
	for c := l.lastIdle(instance); c != nil; c = l.lastIdle(instance) {
		r, p := c.tap.relay, newTap(l.base, &l.doubtful)
		p.instance = instance
		close(p.arrived)
		p.recordOpened(r)
		c.tap = p
		if r.next(p) {
			return c
		}
		_ = c.Close()
	}
	return nil
}
