package driver

import (
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/net/http2"
)

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
