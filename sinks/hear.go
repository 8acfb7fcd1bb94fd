package sinks

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// TLSHandshake is the first byte of TLS (RFC 8446, section 5.1).
const TLSHandshake = 22

// firstBytes are enough to know a protocol.
const firstBytes = 4

// Hear returns a listener whose connections are [Conn]. What came on one that nobody has explained goes on record when it ends, as
// complain says of its first bytes, of which there is at least one; an empty text is nothing to speak of.
func (in *Inbox) Hear(l net.Listener, complain func(first []byte) string) net.Listener {
	return hearing{l, func(c *Conn) {
		if text := c.complaint(complain); text != "" {
			in.mu.Lock()
			defer in.mu.Unlock()
			in.take(&history.Message{Error: text}, nil)
		}
	}}
}

// hearing is a listener that is told when one of its connections ends.
type hearing struct {
	net.Listener
	ended func(*Conn)
}

// Accept hands out a connection that remembers its first bytes.
func (h hearing) Accept() (net.Conn, error) {
	c, err := h.Listener.Accept()
	if err != nil {
		return nil, err
	}
	heard := &Conn{Conn: c}
	heard.close = sync.OnceValue(func() error {
		h.ended(heard)
		return c.Close()
	})
	return heard, nil
}

// HearHTTP answers what comes to a listener by HTTP/1.1, and by HTTP/2 without TLS, until it is closed; closing again does nothing. A
// connection on which a request came is explained; of others, complain is asked as [Inbox.Hear] does. One on which nothing comes for
// so long as idle is closed.
func (in *Inbox) HearHTTP(l net.Listener, complain func(first []byte) string, idle time.Duration, h http.Handler) io.Closer {
	explained := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, is := r.Context().Value(connection{}).(*Conn); is {
			c.Explain("")
		}
		h.ServeHTTP(w, r)
	})
	server := &http.Server{
		Handler: explained, Protocols: new(http.Protocols), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idle,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) },
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- server.Serve(in.Hear(l, complain)) }()
	return closing(sync.OnceValue(func() error {
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}))
}

// connection is the key of a request's connection in its context.
type connection struct{}

// closing is a function as a Closer.
type closing func() error

// Close calls the function.
func (c closing) Close() error { return c() }

// Conn is a connection to a sink that knows what came on it first. It is safe for concurrent use, as connections are.
type Conn struct {
	net.Conn
	close func() error

	mu        sync.Mutex
	first     []byte
	explained bool
	text      string
}

// Explain says what came on the connection, in place of its first bytes; an empty text is nothing to speak of. The last one counts.
func (c *Conn) Explain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.explained, c.text = true, text
}

// Read keeps the first bytes that come.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if missing := firstBytes - len(c.first); missing > 0 {
		c.first = append(c.first, p[:min(n, missing)]...)
	}
	return n, err
}

// Close ends the connection. Closing again does nothing.
func (c *Conn) Close() error { return c.close() }

// complaint says what came on the connection; empty: nothing, or what needs no word.
func (c *Conn) complaint(of func(first []byte) string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.explained:
		return c.text
	case len(c.first) == 0:
		return ""
	default:
		return of(c.first)
	}
}
