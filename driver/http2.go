package driver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
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

// newSession makes a session of a connection, for one user. Run is to be called, on a goroutine of its own.
func newSession(conn net.Conn, config *tls.Config) *session {
	s := &session{
		raw: conn, conn: conn, begun: make(chan struct{}), ready: make(chan struct{}), over: make(chan struct{}),
		widened: make(chan struct{}), users: 1, streams: map[uint32]*stream{}, next: 1, limit: math.MaxUint32, room: firstRoom, roomEach: firstRoom,
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

// join makes room for one more user, if there may be one.
func (s *session) join() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 || s.end != nil || uint32(s.users) >= s.limit {
		return false
	}
	s.users++
	return true
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

// read reads one frame. One that only spoils its stream ends that stream (section 5.4.2).
func (s *session) read() error {
	frame, err := s.in.ReadFrame()
	if spoilt := (http2.StreamError{}); errors.As(err, &spoilt) {
		s.with(spoilt.StreamID, func(st *stream) { st.spoil(spoilt) })
		return nil
	}
	if err != nil {
		return err
	}
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		s.settle(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			s.say(func(w *http2.Framer) error { return w.WritePing(true, f.Data) })
		}
	case *http2.WindowUpdateFrame:
		s.widen(f.StreamID, int64(f.Increment))
	case *http2.GoAwayFrame:
		s.goAway(f)
	case *http2.RSTStreamFrame:
		s.with(f.StreamID, func(st *stream) { st.cut(f.ErrCode) })
	case *http2.MetaHeadersFrame:
		s.with(f.StreamID, func(st *stream) { st.head(f) })
	case *http2.DataFrame:
		s.data(f)
	}
	return nil
}

// with does something to a stream whose answer is not over.
func (s *session) with(id uint32, do func(*stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.streams[id]; st != nil {
		do(st)
	}
}

// say sends what the protocol asks for. What cannot be written tells itself when reading.
func (s *session) say(add func(*http2.Framer) error) {
	const patience = 200 * time.Millisecond // others have to write too
	_ = s.out.write(time.Now().Add(patience), add)
}

// settle takes the server's SETTINGS (section 6.5). A limit of no streams at all is not believed: whoever
// has dialled sends, and is told so.
func (s *session) settle(f *http2.SettingsFrame) {
	if f.IsAck() {
		return
	}
	s.mu.Lock()
	if n, said := f.Value(http2.SettingMaxConcurrentStreams); said {
		s.limit = max(1, n)
	}
	if n, said := f.Value(http2.SettingInitialWindowSize); said {
		for _, st := range s.streams {
			st.room += int64(n) - s.roomEach
		}
		s.roomEach = int64(n)
		s.widens()
	}
	s.mu.Unlock()
	s.say(func(w *http2.Framer) error { return w.WriteSettingsAck() })
	s.once.Do(func() { close(s.ready) })
}

// widen takes a WINDOW_UPDATE (section 6.9).
func (s *session) widen(id uint32, more int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.streams[id]; st != nil {
		st.room += more
	} else if id == 0 {
		s.room += more
	}
	s.widens()
}

// widens tells those who wait for room. It is called with mu held.
func (s *session) widens() {
	close(s.widened)
	s.widened = make(chan struct{})
}

// goAway takes a GOAWAY (section 6.8): the server has not looked at the streams after the last that it
// names, and never will.
func (s *session) goAway(f *http2.GoAwayFrame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = fmt.Errorf("the server goes away (GOAWAY, %s): %w", f.ErrCode, io.EOF)
	for id, st := range s.streams {
		if id > f.LastStreamID {
			st.done(s.end)
		}
	}
}

// data takes a part of an answer's body, and grants the room for more. It counts for the connection even
// where nobody wants it any more.
func (s *session) data(f *http2.DataFrame) {
	s.mu.Lock()
	forAll, forOne := s.used.use(f.Length), uint32(0)
	if st := s.streams[f.StreamID]; st != nil {
		forOne = st.used.use(f.Length)
		st.data(f)
	}
	s.mu.Unlock()
	for id, more := range map[uint32]uint32{0: forAll, f.StreamID: forOne} {
		if more > 0 {
			s.say(func(w *http2.Framer) error { return w.WriteWindowUpdate(id, more) })
		}
	}
}

// credit counts what was received of a window of ownRoom, which is granted anew when it is half used.
type credit uint32

// use counts n bytes and returns how many are to be granted anew.
func (c *credit) use(n uint32) (anew uint32) {
	*c += credit(n)
	if *c < ownRoom/2 {
		return 0
	}
	anew, *c = uint32(*c), 0
	return anew
}
