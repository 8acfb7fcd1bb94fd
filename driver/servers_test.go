package driver_test

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/standin"
)

// serve runs a handler and returns its address.
func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// serveRaw gives every connection to script, on a goroutine of its own, and returns the address.
// When the test ends, it closes what is left and waits for the scripts.
func serveRaw(t testing.TB, script func(*peer)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var busy sync.WaitGroup
	var mu sync.Mutex
	var peers []*peer
	busy.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p := &peer{TCPConn: conn.(*net.TCPConn), in: bufio.NewReader(conn)}
			mu.Lock()
			peers = append(peers, p)
			mu.Unlock()
			busy.Go(func() {
				defer p.Close()
				script(p)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, p := range peers {
			_ = p.Close()
		}
		mu.Unlock()
		busy.Wait()
	})
	return listener.Addr().String()
}

// peer is the server's end of a connection.
type peer struct {
	*net.TCPConn
	in *bufio.Reader
}

// request reads one request and returns its bytes as they came; nothing at the end.
func (p *peer) request() string {
	var raw strings.Builder
	length := 0
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return ""
		}
		raw.WriteString(line)
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Content-Length") {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
		if line == "\r\n" {
			break
		}
	}
	if _, err := io.CopyN(&raw, p.in, int64(length)); err != nil {
		return ""
	}
	return raw.String()
}

// say writes, whether or not the client reads.
func (p *peer) say(format string, args ...any) { _, _ = fmt.Fprintf(p, format, args...) }

// created answers as a server does that keeps its connections.
func (p *peer) created() { p.say("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}") }

// reset breaks the connection off.
func (p *peer) reset() {
	_ = p.SetLinger(0)
	_ = p.Close()
}

// end closes the connection in its direction, and reads what still comes: to close it with something unread would reset it.
func (p *peer) end() {
	_ = p.CloseWrite()
	p.stay()
}

// stay waits until the client has gone.
func (p *peer) stay() { _, _ = io.Copy(io.Discard, p.in) }

// deaf returns an address without a listener, and without one while the test runs.
func deaf(t testing.TB) string {
	t.Helper()
	address, release, err := standin.Nobody()
	require.NoError(t, err)
	t.Cleanup(func() { _ = release() })
	return address
}

// ledger counts, by whatever it is told.
type ledger struct {
	mu     sync.Mutex
	counts map[string]int
	order  []string
}

// add counts one more and returns how many there are now.
func (l *ledger) add(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[what]++
	l.order = append(l.order, what)
	return l.counts[what]
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.order...)
}

// tally returns how often each was counted.
func (l *ledger) tally() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts)
}

// headerOf returns a header of a request as it was on the wire.
func headerOf(raw, name string) string {
	for line := range strings.Lines(raw) {
		if n, value, found := strings.Cut(line, ":"); found && n == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// quiet is a log that goes nowhere.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
