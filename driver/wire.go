package driver

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// exchange is one HTTP/1.1 request and its answer on a connection of its own. It is written and read
// here rather than by http.Transport, which sends a request with an Idempotency-Key again on its own
// account when a connection breaks.
type exchange struct {
	record  history.Attempt // filled in as it goes
	request *http.Request
	timeout time.Duration
	gate    *gate       // nil: not part of a burst
	held    bool        // announced at the gate
	tls     *tls.Config // nil: plain text
	keep    int         // bytes of the answer's body to record
	now     func() history.Offset
}

// run sends the request over a connection that dial opens, and reads the answer.
func (x *exchange) run(ctx context.Context, dial func(context.Context) (net.Conn, error)) {
	x.record.Start = x.now()
	defer func() { x.record.End = x.now() }()
	defer x.leaveGate()

	dialCtx, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	conn, err := dial(dialCtx)
	if err != nil {
		x.fail(ctx, err, history.Refused)
		return
	}
	counted := &countingConn{Conn: conn}
	defer func() { x.record.Sent = counted.sent }()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	conn.SetDeadline(time.Now().Add(x.timeout))
	x.talk(ctx, counted)
}

func (x *exchange) leaveGate() {
	if x.gate != nil && !x.held {
		x.gate.announce()
	}
}

func (x *exchange) talk(ctx context.Context, counted *countingConn) {
	var conn net.Conn = counted
	if x.tls != nil {
		conn = tls.Client(counted, x.tls)
	}
	if err := x.send(ctx, conn); err != nil {
		x.fail(ctx, err, history.OtherError)
		return
	}
	x.record.Wrote = x.now()
	if err := x.receive(conn); err != nil {
		x.fail(ctx, err, history.OtherError)
	}
}

// send writes the request; in a burst, all but its last byte, which waits at the gate.
func (x *exchange) send(ctx context.Context, conn net.Conn) error {
	var raw bytes.Buffer
	if err := x.request.Write(&raw); err != nil {
		return err
	}
	text := raw.Bytes()
	if x.gate == nil {
		_, err := conn.Write(text)
		return err
	}
	if _, err := conn.Write(text[:len(text)-1]); err != nil {
		return err
	}
	conn.SetDeadline(time.Time{})
	x.held = true
	if err := x.gate.wait(ctx); err != nil {
		return err
	}
	conn.SetDeadline(time.Now().Add(x.timeout))
	_, err := conn.Write(text[len(text)-1:])
	return err
}

func (x *exchange) receive(conn net.Conn) error {
	in := bufio.NewReader(conn)
	if _, err := in.Peek(1); err != nil {
		return err
	}
	x.record.Replied = x.now()
	response, err := readFinal(in, x.request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	x.record.Status = response.StatusCode
	x.record.Header = flatten(response.Header)
	body := &recordedBody{keep: x.keep, digest: sha256.New()}
	x.record.Length, err = io.Copy(body, response.Body)
	x.record.Content = body.text()
	if err != nil {
		return err
	}
	x.record.Complete = true
	if x.record.Length > int64(x.keep) {
		x.record.Digest = hex.EncodeToString(body.digest.Sum(nil))
	}
	return nil
}

// readFinal reads the answer and skips informational ones (RFC 9110, section 15.2).
func readFinal(in *bufio.Reader, request *http.Request) (*http.Response, error) {
	const mostInformational = 10
	for range mostInformational {
		response, err := http.ReadResponse(in, request)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
	return nil, errors.New("malformed HTTP response: informational answers without end")
}

// fail records how the exchange broke. Otherwise is the kind where the error itself does not tell.
func (x *exchange) fail(ctx context.Context, err error, otherwise history.ErrorKind) {
	x.record.Error = err.Error()
	x.record.ErrorKind = x.kindOf(ctx, err, otherwise)
}

func (x *exchange) kindOf(ctx context.Context, err error, otherwise history.ErrorKind) history.ErrorKind {
	var malformed *http.ProtocolError
	switch {
	case ctx.Err() != nil:
		return history.Interrupted
	case otherwise == history.Refused:
		return history.Refused
	case errors.Is(err, os.ErrDeadlineExceeded):
		return history.Timeout
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return history.Reset
	case errors.Is(err, io.EOF) && x.record.Replied == 0:
		return history.Closed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return history.Truncated
	case errors.As(err, &malformed), strings.Contains(err.Error(), "malformed"), strings.Contains(err.Error(), "bad Content-Length"):
		return history.Garbage
	default:
		return otherwise
	}
}

// flatten keeps the answer's headers, several lines of one name joined as RFC 9110 section 5.3 allows.
func flatten(h http.Header) map[string]string {
	flat := make(map[string]string, len(h))
	for name, lines := range h {
		flat[name] = strings.Join(lines, ", ")
	}
	return flat
}

// recordedBody keeps the beginning of what is written to it and digests all of it.
type recordedBody struct {
	keep   int
	kept   bytes.Buffer
	digest hash.Hash
}

func (b *recordedBody) Write(p []byte) (int, error) {
	if room := b.keep - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(room, len(p))])
	}
	return b.digest.Write(p)
}

func (b *recordedBody) text() string { return strings.ToValidUTF8(b.kept.String(), "\uFFFD") }

// countingConn counts the bytes written to a connection. Not safe for concurrent writes.
type countingConn struct {
	net.Conn
	sent int64
}

func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent += int64(n)
	return n, err
}
