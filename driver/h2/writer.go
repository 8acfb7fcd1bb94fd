package h2

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http2"
)

// frameWriter writes the frames of all streams to a connection. It gathers them in memory
// first, so that frames that belong together leave in one write. Safe for concurrent use.
type frameWriter struct {
	mu     sync.Mutex
	conn   net.Conn
	frames *http2.Framer
	text   bytes.Buffer // what is not written yet
	reset  error        // a write found the connection reset, which a read then does not report any more
}

// open is called once, before any other method.
func (w *frameWriter) open(conn net.Conn) { w.conn, w.frames = conn, http2.NewFramer(&w.text, nil) }

// add puts frames behind those that are not written yet.
func (w *frameWriter) add(frames func(*http2.Framer) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return frames(w.frames)
}

// leastPatience is the time that each write has, also where its turn came late, as on a machine with much other work: else nothing would
// be tried.
const leastPatience = 100 * time.Millisecond

// write puts frames behind those that are not written yet, and writes all of them, in one write. What
// cannot be written in time is left to the next.
func (w *frameWriter) write(until time.Time, frames func(*http2.Framer) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := frames(w.frames); err != nil {
		return err
	}
	if least := time.Now().Add(leastPatience); until.Before(least) {
		until = least
	}
	_ = w.conn.SetWriteDeadline(until)
	n, err := w.conn.Write(w.text.Bytes())
	w.text.Next(n)
	if isReset(err) {
		w.reset = err
	}
	return err
}

// explain tells the end of a connection from a reset that a write has met.
func (w *frameWriter) explain(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if isEnd(err) && w.reset != nil {
		return w.reset
	}
	return err
}

// isReset reports that the peer has reset the connection (RST).
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isEnd reports that the peer has closed the connection.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
