package h2

import (
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/net/http2"
)

// read reads one frame and does what it asks. An error ends the connection; a stream error
// (section 5.4.2) ends its stream only. Frames of types that are not known are skipped, as
// section 4.1 requires.
func (c *connection) read() error {
	frame, err := c.in.ReadFrame()
	if broken := (http2.StreamError{}); errors.As(err, &broken) {
		c.with(broken.StreamID, func(st *stream) { st.malformed(broken) })
		return nil
	}
	if err != nil {
		return err
	}
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		c.settle(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			c.say(func(w *http2.Framer) error { return w.WritePing(true, f.Data) })
		}
	case *http2.WindowUpdateFrame:
		c.widen(f.StreamID, int64(f.Increment))
	case *http2.GoAwayFrame:
		c.goAway(f)
	case *http2.RSTStreamFrame:
		c.with(f.StreamID, func(st *stream) { st.cut(f.ErrCode) })
	case *http2.MetaHeadersFrame:
		c.with(f.StreamID, func(st *stream) { st.head(f) })
	case *http2.DataFrame:
		c.data(f)
	}
	return nil
}

// with calls do with a stream whose answer is not over.
func (c *connection) with(id uint32, do func(*stream)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.streams[id]; st != nil {
		do(st)
	}
}

// say sends what the protocol requires. A failed write shows when reading.
func (c *connection) say(add func(*http2.Framer) error) {
	const patience = 200 * time.Millisecond // the streams have to write too
	_ = c.out.write(time.Now().Add(patience), add)
}

// settle takes the server's SETTINGS (section 6.5). A limit of 0 streams counts as 1: the request that dialled is
// sent, and the server rejects it.
func (c *connection) settle(f *http2.SettingsFrame) {
	if f.IsAck() {
		return
	}
	c.mu.Lock()
	if n, said := f.Value(http2.SettingMaxConcurrentStreams); said {
		c.limit = max(1, n)
	}
	if n, said := f.Value(http2.SettingInitialWindowSize); said {
		for _, st := range c.streams {
			st.window += int64(n) - c.streamWindow
		}
		c.streamWindow = int64(n)
		c.widens()
	}
	c.mu.Unlock()
	c.say(func(w *http2.Framer) error { return w.WriteSettingsAck() })
	c.once.Do(func() { close(c.ready) })
}

// widen takes a WINDOW_UPDATE (section 6.9), for one stream or, with ID 0, for the
// connection. One for a stream that is over is left aside.
func (c *connection) widen(id uint32, more int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.streams[id]; st != nil {
		st.window += more
	} else if id == 0 {
		c.window += more
	}
	c.widens()
}

// widens wakes the streams that wait for a window. It is called with mu held.
func (c *connection) widens() {
	close(c.widened)
	c.widened = make(chan struct{})
}

// goAway takes a GOAWAY (section 6.8): the server has not looked at the streams after the last that it
// names, and never will.
func (c *connection) goAway(f *http2.GoAwayFrame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = fmt.Errorf("the server goes away (GOAWAY, %s): %w", f.ErrCode, io.EOF)
	for id, st := range c.streams {
		if id > f.LastStreamID {
			st.done(c.end)
		}
	}
}

// data takes a part of an answer's body, and grants a window for more. It counts for the connection even
// where its stream was given up.
func (c *connection) data(f *http2.DataFrame) {
	c.mu.Lock()
	forAll, forOne := c.used.use(f.Length), uint32(0)
	if st := c.streams[f.StreamID]; st != nil {
		forOne = st.used.use(f.Length)
		st.data(f)
	}
	c.mu.Unlock()
	for id, more := range map[uint32]uint32{0: forAll, f.StreamID: forOne} {
		if more > 0 {
			c.say(func(w *http2.Framer) error { return w.WriteWindowUpdate(id, more) })
		}
	}
}

// usedWindow counts what was received of a window of ownWindow, which is granted again when half of it is used.
type usedWindow uint32

// use counts n bytes and returns how many are to be granted again.
func (u *usedWindow) use(n uint32) (again uint32) {
	*u += usedWindow(n)
	if *u < ownWindow/2 {
		return 0
	}
	again, *u = uint32(*u), 0
	return again
}
