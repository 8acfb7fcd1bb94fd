package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// conn is the client's end of a connection on a lane.
//
// Toxiproxy moves bytes through channels, and what sends into a channel without a receiver is stuck
// for ever: one or two goroutines with their buffers for every connection that breaks while two reads'
// worth of bytes or more are on their way (small answers too, when bandwidth or slice chops them).
// Three things break so: the client leaves, the lane is shut, or a toxic closes in mid-stream.
// Therefore a conn that is closed says so to the lane but goes on emptying its socket, a [upstreamTap]
// does the same, and neither hands to a lane more than its toxics take (see [allowance]). What can
// still get stuck, until the process ends: connections that are reset (by the target, or by a toxic
// of the other stream) with much on its way, lanes that do not run dry within [grace], those without
// an upstream tap, and links, whose ends are not ours.
type conn struct {
	net.Conn // tcp, so that only what is defined here can be done to it
	tcp      *net.TCPConn
	tap      *Tap
	lane     *lane
	sealed   bool

	reading sync.Mutex // held by a Read of the client
	closed  atomic.Bool

	writing sync.Mutex // guards room
	room    int64      // bytes that the lane will still take; negative: any number
}

// Instance is the instance of the target to which the connection went, see [Lanes.DialInstance].
func (c *conn) Instance() int {
	if c.tap.doubtful.Load() {
		return 0
	}
	return c.tap.instance
}

// Sealed reports that the upstream tap speaks TLS to the target, see [Options].
func (c *conn) Sealed() bool { return c.sealed }

// Read reads from the lane, as the client.
func (c *conn) Read(b []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	n, err := c.tcp.Read(b)
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	if err != nil && c.sealed {
		err = c.tap.explain(err)
	}
	return n, err
}

// Write writes to the lane, as the client. Bytes past what a breaking lane takes are lost in it.
func (c *conn) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	// Report as written what is not even sent: it would be lost in the toxic anyway, and a
	// client cannot tell the two apart.
	taken := within(b, c.room)
	if len(taken) == 0 {
		return len(b), nil
	}
	n, err := c.tcp.Write(taken)
	if c.room >= 0 {
		c.room -= int64(n)
	}
	if err != nil {
		return n, err
	}
	return len(b), nil
}

// Close ends the connection for the client: the lane gets a FIN, and a Read or Write under
// way fails. The socket itself lives on until the lane has closed it, see conn.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	_ = c.tcp.SetDeadline(time.Unix(1, 0)) // wakes a Read or Write under way
	_ = c.tcp.CloseWrite()                 // fails only where the lane has closed already
	go c.drain()
	return nil
}

// drain empties the socket until the lane closes it.
func (c *conn) drain() {
	defer c.lane.gone(c)
	defer c.tcp.Close()
	for {
		c.reading.Lock() // so the client's last Read has returned
		_ = c.tcp.SetReadDeadline(time.Time{})
		c.reading.Unlock()
		// The client's own deadlines may still strike a socket that is no longer its.
		if _, err := io.Copy(io.Discard, c.tcp); !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// within returns the part of b for which there is room.
func within(b []byte, room int64) []byte {
	if room < 0 || int64(len(b)) <= room {
		return b
	}
	return b[:room]
}

// isReset reports that the peer reset the connection (RST).
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET)
}
