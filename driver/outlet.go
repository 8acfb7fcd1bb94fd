package driver

import (
	"bytes"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// outlet writes frames to a connection. Safe for concurrent use.
type outlet struct {
	mu     sync.Mutex
	conn   net.Conn
	frames *http2.Framer
	text   bytes.Buffer // what is not written yet
	reset  error        // what a write was told of the connection, which reading then does not tell any more
}

func (o *outlet) open(conn net.Conn) { o.conn, o.frames = conn, http2.NewFramer(&o.text, nil) }

// add puts frames behind those that are not written yet.
func (o *outlet) add(frames func(*http2.Framer) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return frames(o.frames)
}

// write puts frames behind those that are not written yet, and writes all of them, in one write. What
// cannot be written in time is left to the next.
func (o *outlet) write(until time.Time, frames func(*http2.Framer) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := frames(o.frames); err != nil {
		return err
	}
	_ = o.conn.SetWriteDeadline(until)
	n, err := o.conn.Write(o.text.Bytes())
	o.text.Next(n)
	if isReset(err) {
		o.reset = err
	}
	return err
}

// explain tells the end of a connection from a reset that a write has come across.
func (o *outlet) explain(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isEnd(err) && o.reset != nil {
		return o.reset
	}
	return err
}
