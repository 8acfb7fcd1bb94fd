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

// party is a number of exchanges that share HTTP/2 connections: those of a burst, or a single one. Safe for
// concurrent use.
type party struct {
	turn chan struct{} // held while dialling
	last *session      // nil: none was dialled
}

func newParty() *party { return &party{turn: make(chan struct{}, 1)} }

// partyFor is a party of one, if the target speaks HTTP/2.
func partyFor(t targets.Target) *party {
	if t.Protocol != targets.HTTP2 {
		return nil
	}
	return newParty()
}

// join returns the party's session, or another where that has no room: one like the last, as far as is
// known. Whoever joins has to leave it.
func (p *party) join(ctx context.Context, dial func(limit uint32) (*session, error)) (*session, error) {
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
func (x *exchange) shares(p *party) {
	if x.party != nil {
		x.party = p
	}
}

// runStream runs the exchange as one stream of a connection that the party shares. Where a connection has no
// room for it, nothing of it was sent, and it goes on another.
func (x *exchange) runStream(ctx context.Context, dial func() (net.Conn, error), dialCtx context.Context) {
	var body []byte
	if x.request.Body != nil {
		body, _ = io.ReadAll(x.request.Body) // from memory
	}
	for err := errFull; errors.Is(err, errFull); {
		s, refused := x.party.join(dialCtx, func(limit uint32) (*session, error) {
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
	if err := s.await(patience, x.seat == nil); err != nil {
		return err
	}
	st := &stream{session: s, seat: x.seat, now: x.now, body: newRecordedBody(x.keep), over: make(chan struct{})}
	ends := len(body) == 0 && x.seat == nil
	if err := st.open(headOf(x.request, ends), ends); err != nil {
		return err
	}
	defer x.collect(st)
	err := st.send(patience, body)
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return st.giveUp(err)
	}
	if x.seat != nil { // which has waited for others
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
