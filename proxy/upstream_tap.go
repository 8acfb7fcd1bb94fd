package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// chunk is how many bytes a relay reads at once.
const chunk = 8 << 10

// upstreamTap is a relay between a lane, which is TCP, and the target. It records what
// passes, and behaves as the target would: a close stays a close, and a reset a reset. A
// client cannot reset a Unix domain socket: there the target sees a close. A lane has one;
// each connection has a [Tap] and two goroutines in it.
type upstreamTap struct {
	listener   net.Listener
	network    string // tcp or unix
	target     string
	instances  []string                       // of the target, for connections that are to go to one of them
	room       int64                          // bytes of an answer that the lane's toxics take, see allowance
	tls        func(instance int) *tls.Config // nil: plain text
	streams    bool                           // of HTTP/2
	lane       *lane
	disconnect context.CancelFunc // ends all connections to the target
	abandon    context.CancelFunc // ends all connections to the lane

	busy sync.WaitGroup // the accepting goroutine and all relays

	mu       sync.Mutex
	expected *Tap // of the dial that is under way
	here     map[*Tap]struct{}
}

// tapSpec describes an upstream tap.
type tapSpec struct {
	network   string // tcp or unix
	target    string
	instances []string
	room      int64
	tls       func(instance int) *tls.Config
	streams   bool
	lane      *lane
}

// openUpstreamTap listens on the loopback interface. It has two ways to
// end: disconnect ends what leads to the target, and abandon what leads to the lane, since
// a lane that is shut must run dry in between (see lane.shut).
func openUpstreamTap(spec tapSpec) (*upstreamTap, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loneHost(), "0"))
	if err != nil {
		return nil, fmt.Errorf("open upstream tap: %w", err)
	}
	d := &upstreamTap{
		listener:  listener,
		network:   spec.network,
		target:    spec.target,
		instances: spec.instances,
		room:      spec.room,
		tls:       spec.tls,
		streams:   spec.streams,
		lane:      spec.lane,
		here:      map[*Tap]struct{}{},
	}
	staying, disconnect := context.WithCancel(context.Background())
	listening, abandon := context.WithCancel(context.Background())
	d.abandon = abandon
	d.disconnect = func() {
		_ = listener.Close()
		disconnect()
	}
	d.busy.Go(func() { d.accept(staying, listening) })
	return d, nil
}

func (d *upstreamTap) address() string { return d.listener.Addr().String() }

// expect says which tap records the next connection that arrives; nil: none is expected.
func (d *upstreamTap) expect(p *Tap) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expected = p
}

// admit returns the tap of a connection that has arrived.
func (d *upstreamTap) admit() *Tap {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.expected
	d.expected = nil
	if p == nil {
		if !d.lane.isShutting() {
			d.lane.doubtful.Store(true)
		}
		p = newTap(d.lane.base, &d.lane.doubtful)
	}
	d.here[p] = struct{}{}
	close(p.arrived)
	return p
}

// forget drops a connection that is over.
func (d *upstreamTap) forget(p *Tap) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.here, p)
	p.recordEnd()
}

// inFlight counts the requests inside the target that came this way.
func (d *upstreamTap) inFlight() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for p := range d.here {
		if p.inFlight() {
			n++
		}
	}
	return n
}

// longestInside is how long the request is inside the target that came this way and is there longest; 0: none is.
func (d *upstreamTap) longestInside() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	longest := time.Duration(0)
	for p := range d.here {
		if p.inFlight() {
			longest = max(longest, (p.now() - p.observed().Arrived).Duration())
		}
	}
	return longest
}

// close ends everything that is left at the upstream tap and waits for it.
func (d *upstreamTap) close() {
	d.disconnect()
	d.abandon()
	d.busy.Wait()
}

// accept serves connections from the lane until disconnect. Connections to the target end when staying
// does, connections to the lane when listening does.
func (d *upstreamTap) accept(staying, listening context.Context) {
	acceptAll(staying, d.listener, func(left *net.TCPConn) {
		r := &relay{left: left, room: d.room, upstream: d}
		r.tap.Store(d.admit())
		d.busy.Go(func() {
			defer func() { d.forget(r.tap.Load()) }()
			defer left.Close()
			defer context.AfterFunc(listening, func() { _ = left.Close() })()
			d.serve(staying, r)
		})
	})
}

// targetOf is where a connection leads.
func (d *upstreamTap) targetOf(p *Tap) string {
	if p.instance > 0 {
		return d.instances[p.instance-1]
	}
	return d.target
}

// serve relays one connection until the lane has closed it. If the target takes no
// connection, the lane gets an end, as from a server that closes at once, and is still
// read, so that nothing gets stuck in it.
func (d *upstreamTap) serve(ctx context.Context, r *relay) {
	defer func() { r.tap.Load().leaveBarrier() }()
	p := r.tap.Load()
	target, err := d.dial(ctx, p)
	if err != nil {
		p.leaveBarrier()
		_ = r.left.CloseWrite()
		_, _ = io.Copy(io.Discard, r.left)
		return
	}
	r.target = target
	p.recordOpened(r)
	defer context.AfterFunc(ctx, func() { r.closeTarget(false) })()
	var answering sync.WaitGroup
	answering.Go(r.down)
	r.up()
	answering.Wait()
}

// dial connects to the target. If it speaks TLS, the client's plain text is sealed from here on.
func (d *upstreamTap) dial(ctx context.Context, p *Tap) (net.Conn, error) {
	target, err := new(net.Dialer).DialContext(ctx, d.network, d.targetOf(p))
	if err != nil {
		if ctx.Err() == nil {
			p.recordRefused()
		}
		return nil, err
	}
	config := d.tlsFor(p.instance)
	if config == nil {
		return target, nil
	}
	secure := tls.Client(target, config)
	if err := agree(ctx, secure, config); err != nil {
		_ = target.Close()
		p.recordTrouble(err)
		return nil, err
	}
	return secure, nil
}

// tlsFor returns how an instance is spoken to; nil: in plain text.
func (d *upstreamTap) tlsFor(instance int) *tls.Config {
	if d.tls == nil {
		return nil
	}
	return d.tls(instance)
}

// agree shakes hands, within the time that a connection may take.
func agree(ctx context.Context, secure *tls.Conn, config *tls.Config) error {
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	if got := secure.ConnectionState().NegotiatedProtocol; got == "" && slices.Contains(config.NextProtos, "h2") {
		return errors.New("the server does not speak HTTP/2: in TLS it agreed to no protocol")
	}
	return nil
}

// relay is one connection at the upstream tap: left leads to the lane.
type relay struct {
	left     *net.TCPConn
	target   net.Conn
	room     int64 // bytes that the lane will still take; negative: any number
	upstream *upstreamTap
	tap      atomic.Pointer[Tap] // of the exchange that is under way, or was the last
	ended    atomic.Bool         // the connection to the target is closed, or about to be

	sending sync.Mutex // guards kept, held while bytes go to the target
	kept    []byte     // what is kept back of the request

	gone atomic.Bool // the target was left for the client, who will see no answer
}

// up passes the request on. When the target is gone it goes on reading, for the lane's sake.
func (r *relay) up() {
	buffer := make([]byte, chunk)
	for broken := false; ; {
		n, err := r.left.Read(buffer)
		if n > 0 && !broken {
			broken = r.forward(buffer[:n]) != nil
		}
		if err != nil {
			r.tap.Load().leaveBarrier()
			r.tap.Load().recordLeft()
			r.closeTarget(isReset(err))
			return
		}
	}
}

// forward passes on what has come of the request, but for what is kept back until it is
// released. The barrier is told without the lock: it may release this very request at
// once.
func (r *relay) forward(b []byte) error {
	r.sending.Lock()
	if len(r.kept) > 0 {
		r.kept = append(r.kept, b...)
		r.sending.Unlock()
		return nil
	}
	pass, keep := r.tap.Load().split(b)
	r.kept = bytes.Clone(keep)
	err := r.send(pass)
	r.sending.Unlock()
	if len(keep) > 0 {
		r.tap.Load().arriveAtBarrier(r.release)
	}
	return err
}

// release passes on what was held. It must be fast: other members of the burst are released after it.
func (r *relay) release() {
	r.sending.Lock()
	defer r.sending.Unlock()
	passed := r.tap.Load().recordRelease(r.kept)
	n, _ := r.target.Write(r.kept) // down notices a failure
	passed(n)
	r.kept = nil
	if stay := r.tap.Load().stays(); stay > 0 {
		r.leaveAfter(stay)
	}
}

// leaveAfter waits, without yielding, and leaves the target as a client does that waits no longer.
func (r *relay) leaveAfter(stay time.Duration) {
	for begun := time.Now(); time.Since(begun) < stay; {
		continue
	}
	r.gone.Store(true)
	r.tap.Load().recordLeft()
	r.closeTarget(false)
}

// send writes to the target, and records it first: see recordPassing.
func (r *relay) send(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	passed := r.tap.Load().recordPassing(b)
	n, err := r.target.Write(b)
	passed(n)
	return err
}

// down passes the answer on, as far as the lane takes it.
func (r *relay) down() {
	buffer := make([]byte, chunk)
	for {
		n, err := r.target.Read(buffer)
		if n > 0 {
			r.tap.Load().recordAnswer(buffer[:n])
			r.tap.Load().awaitBurst()
			r.pass(buffer[:n])
		}
		if err != nil {
			r.tap.Load().leaveBarrier()
			if alert := new(net.OpError); errors.As(err, &alert) && alert.Op == "remote error" {
				r.tap.Load().recordTrouble(err)
			}
			r.closeTarget(false)
			if !r.gone.Load() {
				r.closeLeft(isReset(err))
			}
			return
		}
	}
}

// pass writes to the lane as much as its toxics take; the rest would get stuck in it, see
// conn.
func (r *relay) pass(b []byte) {
	taken := within(b, r.room)
	if len(taken) == 0 {
		return
	}
	n, err := r.left.Write(taken)
	switch {
	case err != nil:
		r.room = 0 // the lane is gone; up notices
	case r.room >= 0:
		r.room -= int64(n)
	}
}

// closeTarget closes the connection to the target in both directions, as toxiproxy does.
func (r *relay) closeTarget(reset bool) {
	r.ended.Store(true)
	r.tap.Load().recordClosed()
	raw := r.target
	if secure, ok := raw.(*tls.Conn); ok {
		raw = secure.NetConn()
	}
	if tcp, ok := raw.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
		return
	}
	_ = r.target.Close()
}

// closeLeft tells the lane that the target is gone. Without a reset all that was sent still gets
// through, and up ends the connection when the lane has closed it too.
func (r *relay) closeLeft(reset bool) {
	if reset {
		resetConn(r.left)
		return
	}
	_ = r.left.CloseWrite()
}

// next has a tap record the exchange that is to come on a connection whose last exchange is over. False: the connection is closed, or
// closing, and nothing may be sent on it.
func (r *relay) next(p *Tap) bool {
	r.upstream.mu.Lock()
	last := r.tap.Swap(p)
	delete(r.upstream.here, last)
	r.upstream.here[p] = struct{}{}
	r.upstream.mu.Unlock()
	// What closes from here on is on record as the new exchange's.
	return !r.ended.Load()
}
