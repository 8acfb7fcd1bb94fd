package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// LinkProxy stands on a link inside the target for a whole run: a listener on the address that the target was told
// to use, and a toxiproxy proxy behind it. Its connections are the target's and stay open from one scenario to the
// next. So toxics that slow it come and go while connections are open, and the listener itself breaks it. Safe for
// concurrent use.
type LinkProxy struct {
	name     string
	listener net.Listener
	behind   *PlainLink
	relays   sync.WaitGroup // the accepting goroutine and the relays

	changing sync.Mutex // held while faults come or go

	mu      sync.Mutex // guards what follows
	open    map[*linkConnection]struct{}
	closed  bool
	moments int       // questions and answers so far
	base    time.Time // offsets count from here; zero: nothing is noted
	words   []string  // by which writes are known that are noted
	noted   []history.Exchange
	armed   *Strike
	holding *Holding
	screen  func() Screen // nil: there is none
	dead    time.Time     // no connection is taken before
}

// OpenLinkProxy opens a link proxy between the addresses listen and to, each host:port; its faults are those of [LinkProxy.Slow]. Of the options only Toxiproxy matters.
func OpenLinkProxy(ctx context.Context, name, listen, to string, o Options) (*LinkProxy, error) {
	behind, err := OpenLink(ctx, Link{Name: name, Upstream: to}, o)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open link %q: %w", name, err), behind.Close())
	}
	l := &LinkProxy{name: name, listener: listener, behind: behind, open: map[*linkConnection]struct{}{}}
	l.relays.Go(l.accept)
	return l, nil
}

// Address is where the link listens, as host:port; the port is the true one if it was given as 0.
func (l *LinkProxy) Address() string { return l.listener.Addr().String() }

// Moments counts the questions and answers that have passed the link since it was opened.
func (l *LinkProxy) Moments() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moments
}

// Slow makes the link slow, for the connections that are there as well, and describes it. Faults that
// would break connections give an error.
func (l *LinkProxy) Slow(ctx context.Context, faults []faults.Fault) (history.Link, error) {
	facts := history.Link{Name: l.name, Proxy: l.behind.facts.Proxy}
	all, err := effectsOf(faults)
	for _, f := range faults {
		if f.Latency == nil && f.Bandwidth == nil && f.Slice == nil {
			err = errors.Join(err, fmt.Errorf("%s does not slow a link down", f))
		}
	}
	if err != nil {
		return facts, fmt.Errorf("slow link %q down: %w", l.name, err)
	}
	facts.Faults, facts.Delay = all.words, history.Offset(leastDelay(all.toxics))
	l.changing.Lock()
	defer l.changing.Unlock()
	for i, t := range all.toxics {
		if err := l.behind.proxy.add(ctx, i, t); err != nil {
			return facts, fmt.Errorf("slow link %q down: %w", l.name, err)
		}
	}
	return facts, nil
}

// ClearToxics removes what slows the link down. It may be repeated.
func (l *LinkProxy) ClearToxics(ctx context.Context) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	if err := l.behind.proxy.clearToxics(ctx); err != nil {
		return fmt.Errorf("clear toxics of link %q: %w", l.name, err)
	}
	return nil
}

// Note begins to note what passes, by offsets from base. A question with one of the words is a write.
func (l *LinkProxy) Note(base time.Time, words ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base, l.words, l.noted = base, words, nil
}

// Noted ends that, and returns what has passed.
func (l *LinkProxy) Noted() history.Traffic {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := history.Traffic{Link: l.name, Exchanges: l.noted}
	l.base, l.noted = time.Time{}, nil
	return t
}

// Close closes the link and all connections on it. It may be repeated.
func (l *LinkProxy) Close() error {
	l.mu.Lock()
	l.closed = true
	for p := range l.open {
		p.abandon()
	}
	l.mu.Unlock()
	err := l.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	err = errors.Join(err, l.behind.Close())
	l.relays.Wait()
	return err
}

// accept serves connections until the listener is closed.
func (l *LinkProxy) accept() {
	acceptAll(context.Background(), l.listener, func(near *net.TCPConn) { l.relays.Go(func() { l.serve(near) }) })
}

// serve relays one connection until both sides are done with it.
func (l *LinkProxy) serve(near *net.TCPConn) {
	// Ask before dialling, which is cheap, and again in admit, under the lock: the link
	// may break while the connection behind it is made.
	if l.isDead() {
		resetConn(near)
		return
	}
	far, err := net.DialTimeout("tcp", l.behind.Address(), handshake)
	if err != nil {
		resetConn(near)
		return
	}
	// answered is true at first, so that the first bytes of the target count as a new
	// question.
	p := &linkConnection{link: l, near: near, far: far.(*net.TCPConn), answered: true}
	if !l.admit(p) {
		p.abandon()
		return
	}
	defer l.forget(p)
	p.relay()
}

// isDead reports that the link takes no connections now, because it broke or was closed.
func (l *LinkProxy) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed || time.Now().Before(l.dead)
}

// admit takes a connection, unless the link broke or was closed while it was made.
func (l *LinkProxy) admit(p *linkConnection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || time.Now().Before(l.dead) {
		return false
	}
	if l.screen != nil {
		p.screen = l.screen()
	}
	l.open[p] = struct{}{}
	return true
}

// forget drops a connection that is over.
func (l *LinkProxy) forget(p *linkConnection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, p)
}

// offset is a moment since base, at least 1 ns: zero means never.
func offset(base, at time.Time) history.Offset { return max(1, history.Offset(at.Sub(base))) }

// resetConn closes a connection with a reset in place of an ordinary end: SO_LINGER of 0
// has the kernel drop what is not sent yet and send RST.
func resetConn(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
