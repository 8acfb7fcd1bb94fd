package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/standin"
	"github.com/doubletap-harness/doubletap/proxy"
)

// long is longer than anything that is waited for should take.
const long = time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// target is an HTTP server that counts what it did.
type target struct {
	*httptest.Server
	connections atomic.Int64
	started     atomic.Int64
	committed   atomic.Int64
	noticed     atomic.Int64 // handlers that learned that their client left
	release     chan struct{}
	once        sync.Once
}

// newTarget serves answer, of the given size, at once.
func newTarget(t testing.TB, size int) *target {
	s := &target{release: make(chan struct{})}
	s.serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.started.Add(1)
		s.committed.Add(1)
		answer(w, size)
	})
	s.free()
	return s
}

// newSlowTarget commits and answers only when it is freed, and gives up when its client leaves.
func newSlowTarget(t testing.TB) *target {
	s := &target{release: make(chan struct{})}
	s.serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.started.Add(1)
		select {
		case <-r.Context().Done():
			s.noticed.Add(1)
			panic(http.ErrAbortHandler)
		case <-s.release:
			s.committed.Add(1)
			answer(w, 2)
		}
	})
	return s
}

func (s *target) serve(t testing.TB, h http.HandlerFunc) {
	s.Server = httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(func() {
		s.free()
		s.CloseClientConnections()
		s.Close()
	})
}

func (s *target) free()        { s.once.Do(func() { close(s.release) }) }
func (s *target) addr() string { return s.Listener.Addr().String() }

func answer(w http.ResponseWriter, size int) {
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, strings.Repeat("x", size))
}

// rawTarget serves every connection with h, which owns it.
func rawTarget(t testing.TB, h func(*net.TCPConn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			busy.Go(func() { h(c.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		busy.Wait()
	})
	return listener.Addr().String()
}

// refusing returns an address without a listener, and without one while the test runs.
func refusing(t testing.TB) string {
	t.Helper()
	address, release, err := standin.Nobody()
	require.NoError(t, err)
	t.Cleanup(func() { _ = release() })
	return address
}

// readRequest reads one request to its end.
func readRequest(c net.Conn) {
	if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

func open(t testing.TB, upstream string, lanes map[string][]faults.Fault) *proxy.Lanes {
	return openWith(t, proxy.Options{Upstream: upstream, Base: time.Now()}, lanes)
}

func openWith(t testing.TB, o proxy.Options, lanes map[string][]faults.Fault) *proxy.Lanes {
	l, err := proxy.Open(context.Background(), lanes, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// faulty opens a lane "faulty" with the given faults.
func faulty(t testing.TB, upstream string, list ...faults.Fault) *proxy.Lanes {
	return open(t, upstream, map[string][]faults.Fault{"faulty": list})
}

func dial(t testing.TB, l *proxy.Lanes, lane string) (net.Conn, *proxy.Tap) {
	c, p, err := l.Dial(context.Background(), lane)
	require.NoError(t, err)
	require.NotNil(t, p)
	t.Cleanup(func() { _ = c.Close() })
	return c, p
}

// request is a create with a body of the given size.
func request(path string, size int) string {
	return "POST " + path + " HTTP/1.1\r\nHost: target\r\nIdempotency-Key: k\r\nConnection: close\r\n" +
		"Content-Length: " + itoa(size) + "\r\n\r\n" + strings.Repeat("b", size)
}

// seen is what a client saw of an exchange.
type seen struct {
	bytes  int
	status int
	err    error // nil: the answer was complete
}

func (s seen) kind() history.ErrorKind {
	switch {
	case s.err == nil:
		return ""
	case errors.Is(s.err, os.ErrDeadlineExceeded):
		return history.Timeout
	case errors.Is(s.err, syscall.ECONNRESET):
		return history.Reset
	case s.bytes == 0:
		return history.Closed
	case s.status != 0:
		return history.Truncated
	default:
		return history.Garbage
	}
}

// exchange sends a request and reads what comes until the lane or the answer ends.
func exchange(c net.Conn, content string) seen {
	_ = c.SetDeadline(time.Now().Add(long))
	if _, err := io.WriteString(c, content); err != nil {
		return seen{err: err}
	}
	return receive(c)
}

// receive reads an answer.
func receive(c net.Conn) seen {
	var s seen
	counted := &counter{reader: c}
	r, err := http.ReadResponse(bufio.NewReader(counted), nil)
	if err == nil {
		s.status = r.StatusCode
		_, err = io.Copy(io.Discard, r.Body)
	}
	s.err, s.bytes = err, counted.n
	return s
}

type counter struct {
	reader io.Reader
	n      int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.reader.Read(b)
	c.n += n
	return n, err
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, long, time.Millisecond, what)
}

// settled waits until the connection to the target is closed, and returns what was observed of it.
func settled(t testing.TB, p *proxy.Tap) history.Passage {
	t.Helper()
	eventually(t, "the target's connection is closed", func() bool { return p.Facts().Closed != 0 })
	return p.Facts()
}
