package driver

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

// What is the same on every HTTP/2 connection of ours.
const (
	alpn       = "h2"     // its name in TLS (RFC 9113, section 3.2)
	firstRoom  = 65535    // window of a connection before anything is said of it (section 6.9.2)
	ownRoom    = 4 << 20  // window for answers, of each stream and of the connection
	largest    = 16 << 10 // payload of a frame, which everybody has to take (section 4.2)
	frameHead  = 9        // bytes of a frame before its payload (section 4.1)
	headerRoom = 4096     // size of the server's table of headers (section 6.5.2)
)

var (
	errHandshake   = errors.New("TLS handshake")
	errStreamReset = errors.New("the server reset the stream")
	errFull        = errors.New("the server takes no more streams on this connection")
)

// session is one HTTP/2 connection (RFC 9113) and its streams. Of its own accord it sends what the protocol
// asks for and no more; nothing is sent again. It ends when the last of its users leaves, or its context
// does. Safe for concurrent use.
type session struct {
	raw     net.Conn // closing it ends the session
	conn    net.Conn // raw, or TLS over it
	out     outlet
	in      *http2.Framer
	begun   chan struct{} // closed when streams may be opened
	ready   chan struct{} // closed when the server has sent its SETTINGS
	once    sync.Once     // guards the closing of ready
	over    chan struct{} // closed when nothing is read any more
	letting sync.Mutex    // held while requests are let go

	mu       sync.Mutex
	users    int                // exchanges that have a stream, or wait for one
	streams  map[uint32]*stream // whose answers are not over
	held     []*stream          // whose requests lack their end, in the order of arrival
	next     uint32             // ID
	limit    uint32             // of streams at once
	room     int64              // bytes of bodies that the server takes
	roomEach int64              // of a new stream
	widened  chan struct{}      // closed, and made anew, when there is more room
	used     credit
	end      error // why there will be no more streams
}

// newSession makes a session of a connection, for one user. Limit is how many streams there may be at once, as
// long as the server has not said it. Run is to be called, on a goroutine of its own.
func newSession(conn net.Conn, config *tls.Config, limit uint32) *session {
	s := &session{
		raw: conn, conn: conn, begun: make(chan struct{}), ready: make(chan struct{}), over: make(chan struct{}),
		users: 1, streams: map[uint32]*stream{}, next: 1, limit: limit,
		room: firstRoom, roomEach: firstRoom, widened: make(chan struct{}),
	}
	if config != nil {
		s.conn = tls.Client(conn, config)
	}
	s.out.open(s.conn)
	s.in = http2.NewFramer(nil, bufio.NewReader(s.conn))
	s.in.SetMaxReadFrameSize(largest)
	s.in.ReadMetaHeaders = hpack.NewDecoder(headerRoom, nil)
	s.in.MaxHeaderListSize = longestHead
	return s
}

// run opens the session and reads until the connection ends, which every stream is then told.
func (s *session) run(ctx context.Context) {
	defer close(s.over)
	defer closeAtEnd(ctx, s.raw)()
	err := s.begin()
	if err == nil {
		close(s.begun)
	}
	for err == nil {
		err = s.read()
	}
	_ = s.raw.Close()
	err = s.out.explain(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = err
	}
	for _, st := range s.streams {
		st.done(err)
	}
}

// begin sends the preface (section 3.4). Pushed answers are not wanted: nobody asked for them.
func (s *session) begin() error {
	if secure, ok := s.conn.(*tls.Conn); ok {
		if err := secure.Handshake(); err != nil {
			return fmt.Errorf("%w: %w", errHandshake, err)
		}
		if name := secure.ConnectionState().NegotiatedProtocol; name != alpn {
			return fmt.Errorf("the server does not speak HTTP/2: in TLS it agreed to %q and not to %q", name, alpn)
		}
	}
	return s.out.write(time.Now().Add(leastDial), func(w *http2.Framer) error {
		s.out.text.WriteString(http2.ClientPreface)
		return errors.Join(
			w.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: ownRoom}),
			w.WriteWindowUpdate(0, ownRoom-firstRoom),
		)
	})
}

// join makes room for one more user, if there may be one. It returns the limit of streams.
func (s *session) join() (limit uint32, joined bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 || s.end != nil || uint32(s.users) >= s.limit {
		return s.limit, false
	}
	s.users++
	return s.limit, true
}

// leave ends the session with its last user.
func (s *session) leave() {
	s.mu.Lock()
	s.users--
	last := s.users == 0
	s.mu.Unlock()
	if last {
		_ = s.raw.Close()
		<-s.over
	}
}

// await returns when a stream may be opened. Whoever has company waits for the server's SETTINGS, which say how
// many streams there may be; a request alone goes ahead of them (section 3.4), and gets through where the
// lane lets nothing come back.
func (s *session) await(ctx context.Context, alone bool) error {
	sign := s.ready
	if alone {
		sign = s.begun
	}
	select {
	case <-sign:
		return nil
	case <-s.over:
		return s.end
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
