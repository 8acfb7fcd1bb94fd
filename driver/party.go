package driver

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"os"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// pool is the HTTP/2 connections that the members of a burst share, or that of a single exchange. Safe for
// concurrent use.
type pool struct {
	turn chan struct{} // held while dialling
	last *session      // nil: none was dialled
}

func newPool() *pool { return &pool{turn: make(chan struct{}, 1)} }

// poolFor is a pool for one exchange, if the target speaks HTTP/2; nil: it does not.
func poolFor(t targets.Target) *pool {
	if t.Protocol != targets.HTTP2 {
		return nil
	}
	return newPool()
}

// acquire acquires a place on the pool's connection, and dials another when that is full: one with the limit of the
// last, as far as that is known. The caller releases the place with leave.
func (p *pool) acquire(ctx context.Context, dial func(limit uint32) (*session, error)) (*session, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	limit := uint32(math.MaxUint32)
	if p.last != nil {
		var joined bool
		if limit, joined = p.last.join(); joined {
			return p.last, nil
		}
	}
	s, err := dial(limit)
	if err == nil {
		p.last = s
	}
	return s, err
}

// shares makes the exchange one of a burst's, if it is one in HTTP/2.
func (x *exchange) shares(p *pool) {
	if x.pool != nil {
		x.pool = p
	}
}

// runStream runs the exchange as one stream of a connection of the pool. Where a connection has no
// room for it, nothing of it was sent, and it goes on another.
func (x *exchange) runStream(ctx context.Context, dial func() (net.Conn, error), dialCtx context.Context) {
	var body []byte
	if x.http.Body != nil {
		body, _ = io.ReadAll(x.http.Body) // from memory
	}
	for err := errFull; errors.Is(err, errFull); {
		s, refused := x.pool.acquire(dialCtx, func(limit uint32) (*session, error) {
			conn, err := dial()
			if err != nil {
				return nil, err
			}
			s := newSession(conn, x.tls, limit)
			go s.run(ctx)
			return s, nil
		})
		if refused != nil {
			x.fail(ctx, refused, history.Refused)
			return
		}
		x.raw = s.raw
		err = x.talkIn(ctx, s, body)
		if err != nil && !errors.Is(err, errFull) {
			x.fail(ctx, err, history.Garbage)
		}
		s.leave()
	}
}

// talkIn sends the request as a stream of a session and waits for its answer, which may come before the
// request has gone. What breaks the sending for good breaks the answer too.
func (x *exchange) talkIn(ctx context.Context, s *session, body []byte) error {
	patience, cancel := x.patience(ctx)
	defer func() { cancel() }()
	if err := s.await(patience, x.member == nil); err != nil {
		return err
	}
	st := &stream{session: s, member: x.member, now: x.now, body: newRecordedBody(x.keep), over: make(chan struct{})}
	ends := len(body) == 0 && x.member == nil
	if err := st.open(headOf(x.http, ends), ends); err != nil {
		return err
	}
	defer x.collect(st)
	err := st.send(patience, body)
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return st.giveUp(err)
	}
	if x.member != nil { // which has waited for others
		cancel()
		patience, cancel = x.patience(ctx)
	}
	return st.wait(patience)
}

// patience is for how long the client waits from now on.
func (x *exchange) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, x.timeout, os.ErrDeadlineExceeded)
}

// collect closes the stream and records what became of it. An answer may have been noted before the write that
// it answers.
func (x *exchange) collect(st *stream) {
	st.close()
	if st.replied != 0 {
		st.wrote = min(st.wrote, st.replied)
	}
	x.record.Sent, x.record.Wrote, x.record.Replied = st.sent, st.wrote, st.replied
	x.record.Status, x.record.Header, x.cookies = st.status, st.header, st.cookies
	x.keepBody(st.body, st.complete)
}
