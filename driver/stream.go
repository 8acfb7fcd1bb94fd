package driver

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/net/http2"

	"github.com/doubletap-harness/doubletap/history"
)

// stream is one request and its answer on a session. The session's goroutine takes the answer down, under
// the session's mu, until the answer is over or the stream is closed.
type stream struct {
	session *session
	id      uint32
	member  *member // nil: not part of a burst
	last    []byte  // of a request that is held
	now     func() history.Offset
	room    int64 // bytes of the body that the server takes
	used    credit
	sent    int64 // bytes of its frames
	wrote   history.Offset

	replied       history.Offset
	informational int
	status        int
	header        map[string]string
	cookies       []string
	body          *recordedBody
	complete      bool
	reset         bool          // by the server
	over          chan struct{} // closed when nothing more comes
	err           error         // why it did not come whole
}

// open takes the stream's place and begins the request. Its head is written with what follows; ends says
// that nothing does.
func (st *stream) open(head []byte, ends bool) error {
	return st.session.out.add(func(w *http2.Framer) error {
		st.session.mu.Lock()
		defer st.session.mu.Unlock()
		if st.session.end != nil {
			return st.session.end
		}
		if len(st.session.streams) >= int(st.session.limit) {
			return errFull
		}
		st.id, st.room = st.session.next, st.session.roomEach
		st.session.next += 2 // the even ones are the server's (section 5.1.1)
		st.session.streams[st.id] = st
		return st.writeHead(w, head, ends)
	})
}

// writeHead writes HEADERS, and CONTINUATION for what they do not hold (section 6.2).
func (st *stream) writeHead(w *http2.Framer, block []byte, ends bool) error {
	part := block[:min(len(block), largest)]
	block = block[len(part):]
	st.sent += int64(frameHead + len(part))
	err := w.WriteHeaders(http2.HeadersFrameParam{StreamID: st.id, BlockFragment: part, EndStream: ends, EndHeaders: len(block) == 0})
	for len(block) > 0 && err == nil {
		part = block[:min(len(block), largest)]
		block = block[len(part):]
		st.sent += int64(frameHead + len(part))
		err = w.WriteContinuation(st.id, len(block) == 0, part)
	}
	return err
}

// send writes the request. The end of a burst's member waits until it is let go.
func (st *stream) send(ctx context.Context, body []byte) error {
	if st.member == nil {
		return st.write(ctx, body, true)
	}
	rest := max(len(body)-1, 0)
	if err := st.write(ctx, body[:rest], false); err != nil {
		return err
	}
	if err := st.hold(ctx, body[rest:]); err != nil {
		return err
	}
	st.member.arrive(st.session.letGo)
	return st.member.wait()
}

// write writes a part of the body, as soon as there is room for it (section 5.2), and whatever is not
// written yet.
func (st *stream) write(ctx context.Context, part []byte, ends bool) error {
	until, _ := ctx.Deadline()
	for first := true; first || len(part) > 0; first = false {
		n, err := st.claim(ctx, len(part))
		if err != nil {
			return err
		}
		err = st.session.out.write(until, func(w *http2.Framer) error {
			if n == 0 {
				return nil
			}
			st.sent += int64(frameHead + n)
			return w.WriteData(st.id, ends && n == len(part), part[:n])
		})
		if err != nil {
			return err
		}
		part = part[n:]
	}
	if ends {
		st.wrote = st.now()
	}
	return nil
}

// claim waits until there is room for some of so many bytes, and takes it. There is none on a stream that broke.
func (st *stream) claim(ctx context.Context, wanted int) (int, error) {
	for {
		st.session.mu.Lock()
		if st.err != nil {
			st.session.mu.Unlock()
			return 0, st.err
		}
		n := min(int64(wanted), max(st.room, 0), max(st.session.room, 0), largest)
		if n > 0 || wanted == 0 {
			st.room -= n
			st.session.room -= n
			st.session.mu.Unlock()
			return int(n), nil
		}
		widened := st.session.widened
		st.session.mu.Unlock()
		select {
		case <-widened:
		case <-st.over:
			return 0, errors.New("the answer was over before the request")
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// hold makes the stream ready to be let go: nothing but its last frame is missing.
func (st *stream) hold(ctx context.Context, last []byte) error {
	if _, err := st.claim(ctx, len(last)); err != nil {
		return err
	}
	st.session.mu.Lock()
	defer st.session.mu.Unlock()
	st.last = last
	st.session.held = append(st.session.held, st)
	return nil
}

// letGo writes the last frames of all streams that are held and due, in one write: what delays it delays
// all of them alike. A member that was let go with the first is not written again.
func (s *session) letGo() {
	s.letting.Lock()
	defer s.letting.Unlock()
	var due []*stream
	err := s.out.write(time.Now().Add(leastDial), func(w *http2.Framer) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held = slices.DeleteFunc(s.held, func(st *stream) bool {
			if !st.member.due.Load() {
				return false
			}
			if s.streams[st.id] != st {
				return true // nobody listens any more
			}
			due = append(due, st)
			st.sent += int64(frameHead + len(st.last))
			_ = w.WriteData(st.id, true, st.last) // to memory
			return true
		})
		return nil
	})
	for _, st := range due {
		if err == nil {
			st.wrote = st.now()
		}
	}
}

// wait returns when the answer is over, or the client's patience.
func (st *stream) wait(ctx context.Context) error {
	select {
	case <-st.over:
		return st.err
	case <-ctx.Done():
		return st.giveUp(context.Cause(ctx))
	}
}

// giveUp ends an answer that is not over, and says what became of it.
func (st *stream) giveUp(err error) error {
	st.session.with(st.id, func(st *stream) { st.done(err) })
	return st.err
}

// close gives the stream up where it is not over in both directions (section 5.4.2).
func (st *stream) close() {
	st.session.mu.Lock()
	delete(st.session.streams, st.id)
	st.session.held = slices.DeleteFunc(st.session.held, func(held *stream) bool { return held == st })
	closed := st.reset || st.complete && st.wrote != 0
	st.session.mu.Unlock()
	if !closed {
		st.session.say(func(w *http2.Framer) error { return w.WriteRSTStream(st.id, http2.ErrCodeCancel) })
	}
}
