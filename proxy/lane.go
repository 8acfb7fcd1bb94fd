package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

const (
	handshake = 5 * time.Second // for a connection to get from the lane's entry to its upstream tap
	grace     = 2 * time.Second // for connections to run dry when a lane is shut
)

var errShut = errors.New("the lane is closed")

// errNoSocket is for a target on a Unix domain socket: toxiproxy reaches it only by an upstream tap.
var errNoSocket = errors.New("the target listens on a Unix domain socket, to which a toxiproxy server on another machine does not get through; leave --toxiproxy out")

// lane is one open lane: its toxiproxy proxy, its upstream tap, and the clients on it. It
// is built whole before the first connection and never changed: a toxic that is added to a
// living connection does something else (see reset). It is shut once. Safe for concurrent
// use.
type lane struct {
	facts    history.Lane
	base     time.Time
	proxy    toxicProxy
	tap      *upstreamTap  // nil: the proxy leads to the target itself
	upstream int64         // bytes that the toxics take from a client, see allowance
	turn     chan struct{} // held by the one dial that is under way
	shutting chan struct{} // closed when the lane begins to shut
	once     sync.Once     // guards the closing of shutting

	// doubtful is set when a connection at the upstream tap may not be the one that was dialled: which
	// tap belongs to which dial is then unknown, and all facts of the lane's taps read zero.
	doubtful atomic.Bool

	busy    sync.WaitGroup // clients' connections
	mu      sync.Mutex     // guards clients, idle and barred
	clients map[*conn]struct{}
	idle    map[int][]*conn // of them, by instance: kept for a dial to come
	barred  bool            // no more clients
	plain   bool            // the lane has no faults, so that its connections may be kept
	keptFor time.Duration   // they are

	ending sync.Mutex // held while shutting
	ended  bool
}

// laneSpec describes a lane.
type laneSpec struct {
	name    string
	faults  []faults.Fault
	options Options
}

// openLane opens the tap first, as toxiproxy has to be told where it listens, and then the
// proxy with its toxics. If it fails, nothing is left open.
func openLane(ctx context.Context, h host, spec laneSpec) (*lane, error) {
	effects, err := effectsOf(spec.faults)
	if err != nil {
		return nil, err
	}
	l := &lane{
		facts:    effects.facts(spec.name, h.place()),
		base:     spec.options.Base,
		upstream: allowance(effects.toxics, up),
		turn:     make(chan struct{}, 1),
		shutting: make(chan struct{}),
		clients:  map[*conn]struct{}{},
		idle:     map[int][]*conn{},
		plain:    len(spec.faults) == 0,
		keptFor:  keptFor,
	}
	plan := proxyPlan{name: spec.name, upstream: spec.options.Upstream, toxics: effects.toxics}
	if h.reachesLoopback() {
		step := tapSpec{network: "tcp", target: plan.upstream, instances: spec.options.Instances, room: allowance(effects.toxics, down), lane: l, tls: spec.options.TLS, streams: spec.options.Streams}
		if spec.options.Socket != "" {
			step.network, step.target = "unix", spec.options.Socket
		}
		if l.tap, err = openUpstreamTap(step); err != nil {
			return nil, err
		}
		l.facts.Doorstep = true
		plan.upstream = l.tap.address()
	} else if spec.options.Socket != "" {
		return nil, errNoSocket
	}
	if l.proxy, err = h.build(ctx, plan); err != nil {
		l.closeTap()
		return nil, err
	}
	return l, nil
}

// dial connects to the lane's entry and returns once the connection stands at the upstream tap.
//
// Nothing in a TCP stream says which connection at the upstream tap belongs to which at the entry, so
// order must: only one dial is under way in a lane at any time, and it ends when its connection has
// come out at the other end. A connection that comes out while a dial waits is therefore the one
// that was dialled (toxiproxy itself accepts, dials on, and only then accepts the next). A dial that
// was refused left nothing behind; one that timed out may still come out later, and one that did not
// come out at all may yet do so: both make the lane doubtful, and so does a connection at the
// upstream tap that no dial waits for, unless the lane is shutting and the dial was called off.
func (l *lane) dial(ctx context.Context, instance int) (net.Conn, *Tap, error) {
	if c := l.reuse(instance); c != nil {
		return c, c.tap, nil
	}
	if err := l.take(ctx); err != nil {
		return nil, nil, err
	}
	defer func() { <-l.turn }()
	p := newTap(l.base, &l.doubtful)
	if l.tap != nil && l.tap.streams {
		p.countFrames()
	}
	if l.tap != nil {
		p.instance = instance
	}
	l.expect(p)
	defer l.expect(nil)
	// A connect that is given up may have succeeded at the other end, so ctx does not end it.
	tcp, err := net.DialTimeout("tcp", l.proxy.address(), handshake)
	if err != nil {
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			l.doubtful.Store(true)
		}
		return nil, nil, cmp.Or(l.proxy.lost(), err)
	}
	c, err := l.adopt(tcp.(*net.TCPConn), p)
	if err != nil {
		return nil, nil, err
	}
	if l.tap == nil {
		p.recordEnd()
	}
	if err := errors.Join(l.await(p), ctx.Err()); err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return c, p, nil
}

// take waits for this dial's turn.
func (l *lane) take(ctx context.Context) error {
	select {
	case <-l.shutting:
	case <-ctx.Done():
	case l.turn <- struct{}{}:
		if ctx.Err() == nil && !l.isShutting() {
			return nil
		}
		<-l.turn
	}
	if l.isShutting() {
		return errShut
	}
	return ctx.Err()
}

// isShutting reports that the lane takes no more dials.
func (l *lane) isShutting() bool {
	select {
	case <-l.shutting:
		return true
	default:
		return false
	}
}

// expect tells the upstream tap, if there is one, which tap records the next connection.
func (l *lane) expect(p *Tap) {
	if l.tap != nil {
		l.tap.expect(p)
	}
}

// await waits until the connection of p stands at the upstream tap.
func (l *lane) await(p *Tap) error {
	if l.tap == nil {
		return nil
	}
	limit := time.NewTimer(handshake)
	defer limit.Stop()
	select {
	case <-p.arrived:
		return nil
	case <-l.shutting:
		return errShut
	case <-limit.C:
		l.doubtful.Store(true)
		return fmt.Errorf("toxiproxy did not pass the connection on within %v", handshake)
	}
}

// adopt makes tcp a connection of this lane, which ends with it at the latest.
func (l *lane) adopt(tcp *net.TCPConn, p *Tap) (*conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.barred {
		_ = tcp.Close()
		return nil, errShut
	}
	l.busy.Add(1)
	return l.client(tcp, p), nil
}

// client makes tcp a connection of a client that has none on it. It is called with mu held.
func (l *lane) client(tcp *net.TCPConn, p *Tap) *conn {
	c := &conn{Conn: tcp, tcp: tcp, tap: p, lane: l, sealed: l.tap != nil && l.tap.tls != nil, room: l.upstream}
	l.clients[c] = struct{}{}
	return c
}

// gone forgets a client whose socket is closed.
func (l *lane) gone(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, c)
	l.busy.Done()
}

// inFlight counts the requests inside the target, see Lanes.InFlight.
func (l *lane) inFlight() int {
	if l.tap == nil {
		return 0
	}
	return l.tap.inFlight()
}

func (l *lane) longestInside() time.Duration {
	if l.tap == nil {
		return 0
	}
	return l.tap.longestInside()
}

// shut closes the lane. The order matters: the target is disconnected first, so that nothing delayed
// arrives; then both ends only listen, so that toxiproxy can empty itself into them when its toxics
// are removed (see conn for what happens otherwise); the proxy goes when nothing is left in it.
func (l *lane) shut(ctx context.Context) error {
	l.ending.Lock()
	defer l.ending.Unlock()
	if l.ended {
		return nil
	}
	l.once.Do(func() { close(l.shutting) })
	if l.tap != nil {
		l.tap.disconnect()
	}
	for _, c := range l.bar() {
		_ = c.Close()
	}
	err := l.proxy.clearToxics(ctx)
	l.settle()
	err = errors.Join(err, l.proxy.close(ctx))
	for _, c := range l.bar() {
		_ = c.tcp.Close()
	}
	l.busy.Wait()
	l.closeTap()
	l.ended = err == nil
	return err
}

// bar lets no more clients in and returns those that are there.
func (l *lane) bar() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.barred = true
	var present []*conn
	for c := range l.clients {
		present = append(present, c)
	}
	return present
}

// settle waits until every connection of the lane has run dry, for grace at most: what is
// stuck in toxiproxy after that stays stuck.
func (l *lane) settle() {
	dry := make(chan struct{})
	go func() {
		l.busy.Wait()
		if l.tap != nil {
			l.tap.busy.Wait()
		}
		close(dry)
	}()
	select {
	case <-dry:
	case <-time.After(grace):
	}
}

// closeTap ends the upstream tap, if there is one.
func (l *lane) closeTap() {
	if l.tap != nil {
		l.tap.close()
	}
}
