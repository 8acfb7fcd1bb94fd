package driver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/doubletap-harness/doubletap/driver/h2"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// leastDial is how long dialling may take, however short the client's timeout is: dials queue at a
// lane's entry, which the harness causes, and the client's deadline begins when it is connected.
const leastDial = 5 * time.Second

// exchange is one request and its answer: in HTTP/1.1 on a connection that no other uses
// meanwhile, in HTTP/2 as a stream of its own (see runStream). It is written and read here rather than
// by http.Transport, which sends a request with an Idempotency-Key again by itself when a
// connection breaks: the target would then see more requests than the history has. Used
// once, by one goroutine.
type exchange struct {
	record  history.Attempt // filled in as it goes
	http    *http.Request
	timeout time.Duration
	member  *member     // nil: not part of a burst
	holder  holder      // holds the last byte at the upstream tap; nil: there is none
	pool    *h2.Pool    // of shared HTTP/2 connections; nil: HTTP/1.1
	shared  bool        // HTTP/2: other requests are on its connection
	tls     *tls.Config // nil: plain text
	keep    int         // bytes of the answer's body to record
	now     func() history.Offset
	lasting bool     // the connection may be kept for another exchange, if the answer leaves it open
	idle    bool     // the answer has left it open, and nothing is on it
	cookies []string // that the answer sets, as it says so
	raw     net.Conn // that it went on; nil: it did not come to that
}

// holder is [Tap.Hold].
type holder func(size int64, arrive func(release func()), leave func(), answered func() <-chan struct{}) bool

// run sends the request over a connection that dial opens, and reads the answer. It fills
// in x.record and returns nothing: a broken exchange is a fact like any other. On all
// paths the member leaves its barrier, or the others of the burst would wait for it in
// vain.
func (x *exchange) run(ctx context.Context, dial func(context.Context) (net.Conn, error)) {
	x.record.Start = x.now()
	defer func() { x.record.End, x.record.Instance = x.now(), instanceOf(x.raw) }()
	defer x.leaveBarrier()

	if x.pool != nil {
		x.runStream(ctx, dial)
		return
	}
	dialCtx, cancel := context.WithTimeout(ctx, max(x.timeout, leastDial))
	defer cancel()
	conn, err := dial(dialCtx)
	if err != nil {
		x.fail(ctx, err, history.Refused)
		return
	}
	// The client's timeout starts here, when it is connected: see leastDial.
	x.raw = conn
	x.tls = x.tlsOn(conn)
	counted := &countingConn{Conn: conn}
	defer func() { x.record.Sent = counted.sent }()
	defer x.part(conn)
	conn.SetDeadline(time.Now().Add(x.timeout))
	defer h2.CloseAtEnd(ctx, conn)()
	x.talk(ctx, counted)
}

// part closes a connection, or keeps it for the next exchange. Where the members of a burst wait for each other in the target, it is closed: a server
// with a worker for each connection would go on to wait on it, and leave the others where they are.
func (x *exchange) part(conn net.Conn) {
	kept, can := conn.(interface{ Keep() bool })
	if can && x.lasting && x.idle && (x.member == nil || x.member.allAnswered()) && kept.Keep() {
		return
	}
	_ = conn.Close()
}

// instanceOf returns the instance of the target that a connection went to; 0: unknown.
func instanceOf(conn net.Conn) int {
	if c, placed := conn.(interface{ Instance() int }); placed {
		return c.Instance()
	}
	return 0
}

// tlsOn returns how to speak TLS on a connection; nil: not at all, as where plain text that is written to it reaches the target in TLS.
func (x *exchange) tlsOn(conn net.Conn) *tls.Config {
	if c, known := conn.(interface{ Sealed() bool }); known && c.Sealed() {
		return nil
	}
	return x.tls
}

// leaveBarrier tells the burst that nothing more comes of this member. It does nothing for
// one that was released and answered.
func (x *exchange) leaveBarrier() {
	if x.member != nil {
		x.member.leave()
		x.member.answered()
	}
}

// talk sends the request and reads its answer. A target may answer and close before it has read all
// of the request: writing fails then, and yet the answer is there to be read.
func (x *exchange) talk(ctx context.Context, counted *countingConn) {
	var conn net.Conn = counted
	if x.tls != nil {
		conn = tls.Client(counted, x.tls)
	}
	unsent := x.send(conn)
	if unsent != nil && !isReset(unsent) {
		x.fail(ctx, unsent, history.OtherError)
		return
	}
	err := x.receive(conn)
	if unsent != nil && x.record.Replied == 0 {
		err = unsent
	}
	if err != nil {
		x.fail(ctx, err, history.Garbage)
	}
}

// send writes the request. The last byte of a burst's member waits until it is released.
func (x *exchange) send(conn net.Conn) error {
	var raw bytes.Buffer
	if err := x.http.Write(&raw); err != nil {
		return err
	}
	// Write to memory first: then the last byte can be held back, and all the rest leaves
	// in one write, in one packet where it fits.
	text := raw.Bytes()
	if x.record.Body == history.Elsewhere {
		text = reversed(text)
	}
	if x.member == nil {
		return x.write(conn, text)
	}
	if err := x.sendHeld(conn, text); err != nil {
		return err
	}
	return conn.SetDeadline(time.Now().Add(x.timeout))
}

// sendHeld sends a member of a burst. Its last byte is held behind the lane, where the lane's latency
// cannot spread the burst again; where there is no upstream tap, in front of the lane.
func (x *exchange) sendHeld(conn net.Conn, text []byte) error {
	if x.holder != nil && x.tls == nil && x.holder(int64(len(text)), x.member.Arrive, x.member.leave, x.member.answered) {
		if err := x.write(conn, text); err != nil {
			return err
		}
		return x.member.waitAtMost(x.timeout)
	}
	// Without a tap, and in TLS, where a tap cannot tell the last byte, hold it here.
	last := len(text) - 1
	if _, err := conn.Write(text[:last]); err != nil {
		return err
	}
	_ = conn.SetDeadline(time.Time{}) // the client's timeout does not count while it waits for the others
	var unsent error
	x.member.Arrive(func() { unsent = x.write(conn, text[last:]) })
	if err := x.member.Wait(); err != nil {
		return err
	}
	return unsent
}

// write writes what ends the request.
func (x *exchange) write(conn net.Conn, text []byte) error {
	_, err := conn.Write(text)
	if err == nil {
		x.record.Wrote = x.now()
	}
	return err
}

// fail records how the exchange broke: the text for people, and the kind for the checker.
// Otherwise is the kind where the error itself does not tell.
func (x *exchange) fail(ctx context.Context, err error, otherwise history.ErrorKind) {
	x.record.Error = err.Error()
	x.record.ErrorKind = x.kindOf(ctx, err, otherwise)
}

// kindOf sorts an error into the kinds of the history, the surest first. The end of the
// run outranks all: it closes connections itself, and what breaks then is not the target's
// doing. "Closed" and "Truncated" differ by whether any byte of an answer came: a
// truncated 2xx is an unknown outcome, but it proves that the target had begun to answer.
func (x *exchange) kindOf(ctx context.Context, err error, otherwise history.ErrorKind) history.ErrorKind {
	var network net.Error
	switch {
	case ctx.Err() != nil:
		return history.Interrupted
	case otherwise == history.Refused:
		return history.Refused
	case errors.Is(err, os.ErrDeadlineExceeded):
		return history.Timeout
	case isReset(err):
		return history.Reset
	case isEnd(err) && x.record.Replied == 0:
		return history.Closed
	case isEnd(err):
		return history.Truncated
	case errors.As(err, &network), errors.Is(err, h2.ErrHandshake):
		return history.OtherError
	default:
		return otherwise
	}
}

// isReset reports that the peer reset the connection or the stream. EPIPE is the same, met
// by a second write.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, h2.ErrStreamReset)
}

// isEnd reports that the peer closed the connection in the ordinary way (FIN).
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// countingConn counts the bytes written to a connection. Not safe for concurrent writes.
type countingConn struct {
	net.Conn
	sent int64
}

// Write counts also what a write that failed has written: so much may have reached the target.
func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent += int64(n)
	return n, err
}

// TLS returns how to speak TLS to a target; nil: its base URL is not https. The caller may
// change what is returned. It offers one protocol only (ALPN, RFC 7301), so that a server
// that speaks both does not choose the one that the target file did not name.
func TLS(t targets.Target) *tls.Config {
	where, err := url.Parse(t.BaseURL)
	if err != nil || where.Scheme != "https" {
		return nil
	}
	config := t.TLS.Config()
	config.ServerName, config.NextProtos = where.Hostname(), []string{"http/1.1"}
	if t.TLS != nil && t.TLS.ServerName != "" {
		config.ServerName = t.TLS.ServerName
	}
	if t.Protocol == targets.HTTP2 {
		config.NextProtos = []string{h2.ALPN}
	}
	return config
}
