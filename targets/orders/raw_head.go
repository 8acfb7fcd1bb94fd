package orders

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
)

// withHeads has every connection keep the head of its last request as it came: net/http writes the names of headers
// anew.
func withHeads(l net.Listener) net.Listener { return headListener{l} }

type headListener struct{ net.Listener }

func (l headListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: conn}, nil
}

// headConn keeps what it has read since it last wrote: the request that is being executed.
type headConn struct {
	net.Conn
	mu       sync.Mutex
	text     []byte
	answered bool
}

func (c *headConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		c.text, c.answered = nil, false
	}
	c.text = append(c.text, p[:n]...)
	return n, err
}

func (c *headConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.answered = true
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// rawHeader returns the value of the first header whose name is one that same takes for it; empty: there is none.
func (c *headConn) rawHeader(name string, same func(a, b string) bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	head, _, _ := bytes.Cut(c.text, []byte("\r\n\r\n"))
	for line := range strings.SplitSeq(string(head), "\r\n") {
		if spelled, value, is := strings.Cut(line, ":"); is && same(spelled, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// connection is the key under which contexts hold the connection of a request.
type connection struct{}

func keepConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, c)
}

// keyFromHead is keyOrNot with the key that stands in the list of the headers as they came. Names are compared by same.
func keyFromHead(same func(a, b string) bool) func(*api) handler {
	return func(a *api) handler {
		next := keyOrNot(a)
		return func(ctx context.Context, req request) (answer, error) {
			return next(ctx, req.withKey(ctx.Value(connection{}).(*headConn).rawHeader(keyHeader, same)))
		}
	}
}
