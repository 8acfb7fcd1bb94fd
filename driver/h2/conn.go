// Package h2 sends single requests in HTTP/2 (RFC 9113), frame by frame. It is a client of
// its own, because those of Go retry by themselves and decide by themselves when a frame
// leaves. Here nothing is sent again, and the last frames of a burst leave in one write.
// The package records when and what was sent and received, and judges nothing.
//
// A [Pool] dials connections and gives each request a stream. One goroutine per connection
// reads frames (frames.go) and fills in the answers (answer.go); each request's own
// goroutine writes its frames (stream.go), all through one frameWriter.
package h2

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// ALPN is the name of HTTP/2 in TLS (RFC 9113, section 3.2).
const ALPN = "h2"

// What is the same on every connection.
const (
	firstWindow = 65535           // of a connection before anything is said of it (section 6.9.2)
	ownWindow   = 4 << 20         // for answers, of each stream and of the connection
	maxFrame    = 16 << 10        // payload that every peer has to accept (section 4.2)
	frameHead   = 9               // bytes of a frame before its payload (section 4.1)
	headerTable = 4096            // size of the server's table of headers (section 6.5.2)
	longestHead = 1 << 20         // of an answer, before its body
	openTimeout = 5 * time.Second // of writes on behalf of all streams
)

var (
	// ErrHandshake is wrapped by what went wrong while TLS was agreed.
	ErrHandshake = errors.New("TLS handshake")
	// ErrStreamReset is wrapped where the server reset the stream before it answered.
	ErrStreamReset = errors.New("the server reset the stream")

	errFull = errors.New("the server takes no more streams on this connection")
)

// connection is one HTTP/2 connection and its streams. By itself it sends what the protocol requires and no more;
// nothing is sent again. It ends when the last of its users releases it, or its context does. Safe for concurrent
// use.
type connection struct {
	raw       net.Conn // closing it ends the connection
	conn      net.Conn // raw, or TLS over it
	out       frameWriter
	in        *http2.Framer
	begun     chan struct{} // closed when streams may be opened
	ready     chan struct{} // closed when the server has sent its SETTINGS
	once      sync.Once     // guards the closing of ready
	over      chan struct{} // closed when nothing is read any more
	releasing sync.Mutex    // held while last frames are sent
	state
}

// state is what the streams of a connection share. All of it is guarded by mu.
type state struct {
	mu           sync.Mutex
	users        int                // exchanges that have a stream, or wait for one
	streams      map[uint32]*stream // whose answers are not over
	held         []*stream          // whose requests lack their last frame, in the order of arrival
	next         uint32             // stream ID
	limit        uint32             // of streams at once
	window       int64              // bytes of bodies that the server takes
	streamWindow int64              // of a new stream
	widened      chan struct{}      // closed, and made anew, when a window grew
	used         usedWindow
	end          error // why there will be no more streams
}

// newConnection makes a connection for one user. Limit is how many streams there may be at once, until the server
// says it. Run is to be called, on a goroutine of its own.
func newConnection(raw net.Conn, config *tls.Config, limit uint32) *connection {
	c := &connection{
		raw: raw, conn: raw, begun: make(chan struct{}), ready: make(chan struct{}), over: make(chan struct{}),
		state: state{
			users: 1, streams: map[uint32]*stream{}, next: 1, limit: limit,
			window: firstWindow, streamWindow: firstWindow, widened: make(chan struct{}),
		},
	}
	if config != nil {
		c.conn = tls.Client(raw, config)
	}
	c.out.open(c.conn)
	// One framer reads and another one, in out, writes: a framer is not safe for both at
	// once.
	c.in = http2.NewFramer(nil, bufio.NewReader(c.conn))
	c.in.SetMaxReadFrameSize(maxFrame)
	c.in.ReadMetaHeaders = hpack.NewDecoder(headerTable, nil)
	c.in.MaxHeaderListSize = longestHead
	return c
}

// run opens the connection and reads until it ends, which ends all streams. It is the only
// reader. Closing raw is how it is stopped: by the context, or by the last release.
func (c *connection) run(ctx context.Context) {
	defer close(c.over)
	defer CloseAtEnd(ctx, c.raw)()
	err := c.begin()
	if err == nil {
		close(c.begun)
	}
	for err == nil {
		err = c.read()
	}
	_ = c.raw.Close()
	err = c.out.explain(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		c.end = err
	}
	for _, st := range c.streams {
		st.done(err)
	}
}

// begin sends the preface (section 3.4). It refuses pushed answers: they belong to no request.
func (c *connection) begin() error {
	if secure, ok := c.conn.(*tls.Conn); ok {
		if err := secure.Handshake(); err != nil {
			return fmt.Errorf("%w: %w", ErrHandshake, err)
		}
		if name := secure.ConnectionState().NegotiatedProtocol; name != ALPN {
			return fmt.Errorf("the server does not speak HTTP/2: in TLS it agreed to %q and not to %q", name, ALPN)
		}
	}
	return c.out.write(time.Now().Add(openTimeout), func(w *http2.Framer) error {
		c.out.text.WriteString(http2.ClientPreface)
		return errors.Join(
			w.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: ownWindow}),
			w.WriteWindowUpdate(0, ownWindow-firstWindow),
		)
	})
}

// acquire takes a place for one more stream, if there is one. It returns the limit of streams.
func (c *connection) acquire() (limit uint32, acquired bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == 0 || c.end != nil || uint32(c.users) >= c.limit {
		return c.limit, false
	}
	c.users++
	return c.limit, true
}

// release gives a place back, and ends the connection with its last user.
func (c *connection) release() {
	c.mu.Lock()
	c.users--
	last := c.users == 0
	c.mu.Unlock()
	if last {
		_ = c.raw.Close()
		<-c.over
	}
}

// await returns when a stream may be opened. Requests that share a connection wait for the server's SETTINGS, which say how
// many streams there may be. A request alone does not (section 3.4): so it gets through where the lane lets nothing
// come back.
func (c *connection) await(ctx context.Context, alone bool) error {
	sign := c.ready
	if alone {
		sign = c.begun
	}
	select {
	case <-sign:
		return nil
	case <-c.over:
		return c.end
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// CloseAtEnd closes conn when ctx ends. Deadlines would not do: the next one undoes the last. The
// function that it returns calls it off, or waits until it has been done. It serves connections of
// both protocols.
func CloseAtEnd(ctx context.Context, conn net.Conn) (stop func()) {
	closed := make(chan struct{})
	callOff := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = conn.Close()
	})
	return func() {
		if !callOff() {
			<-closed
		}
	}
}
