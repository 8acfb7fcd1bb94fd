package h2

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"time"
)

// Pool is the connections that requests share: those of a burst, or that of a single request. Make one with
// [NewPool]. Safe for concurrent use.
type Pool struct {
	turn chan struct{} // held while dialling
	last *connection   // nil: none was dialled
}

// NewPool makes a pool without connections.
func NewPool() *Pool { return &Pool{turn: make(chan struct{}, 1)} }

// Exchange is one request and how it is sent.
type Exchange struct {
	Request *http.Request
	Dial    func(context.Context) (net.Conn, error)
	TLS     func(net.Conn) *tls.Config // of a connection that was dialled; nil, or of nil: cleartext, with prior knowledge (RFC 9113, section 3.3)
	Member  Member                     // nil: the request waits for no others
	Shared  bool                       // other requests go through the pool
	Now     func() time.Duration       // of the offsets of the Result; never 0
	Body    io.Writer                  // gets the body of the answer; must not fail

	DialTimeout time.Duration // of dialling, and of waiting for another request that dials
	Timeout     time.Duration // of request and answer, without the wait for other members
}

// Member is one request of a burst, which waits with its last frame until all others are there.
type Member interface {
	// Arrive says that only the last frame is missing; release sends the last frames of all that are due.
	Arrive(release func())
	// Wait returns when the member has been released, or never will be.
	Wait() error
	// Due reports that the member is being released.
	Due() bool
}

// Result is what was seen of an exchange. Offsets are those of Exchange.Now; zero means never.
type Result struct {
	Conn     net.Conn // that it went on; nil: there was none
	Sent     int64    // bytes of its frames
	Wrote    time.Duration
	Replied  time.Duration
	Status   int
	Header   http.Header
	Complete bool // the answer is whole
}

// DialError says that there was no connection. Nothing was sent.
type DialError struct{ Err error }

func (e *DialError) Error() string { return e.Err.Error() }
func (e *DialError) Unwrap() error { return e.Err }

// Do sends a request as one stream of a connection of the pool, and waits for its answer. Where a connection is
// full, nothing was sent on it, and the request goes on another. It is sent at most once. Errors are DialError,
// ErrHandshake, ErrStreamReset, those of the network and of ctx, os.ErrDeadlineExceeded after Timeout, and others
// where the answer is malformed.
func (p *Pool) Do(ctx context.Context, x Exchange) (Result, error) {
	dialCtx, cancel := context.WithTimeout(ctx, x.DialTimeout)
	defer cancel()
	var body []byte
	if x.Request.Body != nil {
		body, _ = io.ReadAll(x.Request.Body) // from memory
	}
	for {
		c, err := p.acquire(ctx, dialCtx, x)
		if err != nil {
			return Result{}, &DialError{Err: err}
		}
		result, err := x.on(ctx, c, body)
		c.release()
		if !errors.Is(err, errFull) {
			result.Conn = c.raw
			return result, err
		}
	}
}

// acquire acquires a place on the pool's connection, and dials another when that is full:
// one with the limit of the last, as far as that is known. Only one request dials at a
// time, or a burst would open a connection for each of its members. The caller releases
// the place.
func (p *Pool) acquire(ctx, dialCtx context.Context, x Exchange) (*connection, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-dialCtx.Done():
		return nil, dialCtx.Err()
	}
	limit := uint32(math.MaxUint32)
	if p.last != nil {
		var acquired bool
		if limit, acquired = p.last.acquire(); acquired {
			return p.last, nil
		}
	}
	raw, err := x.Dial(dialCtx)
	if err != nil {
		return nil, err
	}
	var config *tls.Config
	if x.TLS != nil {
		config = x.TLS(raw)
	}
	p.last = newConnection(raw, config, limit)
	go p.last.run(ctx)
	return p.last, nil
}

// on sends the request as a stream of a connection and waits for its answer, which may come before the
// request has gone. What breaks the sending for good breaks the answer too.
func (x Exchange) on(ctx context.Context, c *connection, body []byte) (result Result, err error) {
	patience, cancel := x.patience(ctx)
	defer func() { cancel() }()
	if err := c.await(patience, !x.Shared); err != nil {
		return Result{}, err
	}
	st := &stream{connection: c, member: x.Member, now: x.Now, body: x.Body, over: make(chan struct{})}
	ends := len(body) == 0 && x.Member == nil
	if err := st.open(headOf(x.Request, ends), ends); err != nil {
		return Result{}, err
	}
	defer func() { result = st.close(x.Shared) }()
	err = st.send(patience, body)
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return result, st.giveUp(err)
	}
	if x.Member != nil { // which has waited for others
		cancel()
		patience, cancel = x.patience(ctx)
	}
	return result, st.wait(patience)
}

// patience is how long the client waits from now on.
func (x Exchange) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, x.Timeout, os.ErrDeadlineExceeded)
}
