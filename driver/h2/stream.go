package h2

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// stream is one request and its answer on a connection. The connection's goroutine fills in the answer, with the
// connection's mu held, until the answer is over or the stream is closed.
type stream struct {
	connection *connection
	id         uint32
	member     Member // nil: not part of a burst
	last       []byte // of a request that is held
	now        func() time.Duration
	window     int64 // bytes of the body that the server takes
	used       usedWindow
	sent       int64 // bytes of its frames
	wrote      time.Duration

	replied       time.Duration
	informational int
	status        int
	header        http.Header
	body          io.Writer
	length        int64 // of the body so far
	complete      bool
	reset         bool          // by the server
	over          chan struct{} // closed when nothing more comes
	err           error         // why it did not come whole
}

// open opens the stream and begins the request. Its head is written with what follows;
// ends says that nothing does. IDs have to grow in the order in which they are sent
// (section 5.1.1), so the ID is taken while the writer is held.
func (st *stream) open(head []byte, ends bool) error {
	return st.connection.out.add(func(w *http2.Framer) error {
		st.connection.mu.Lock()
		defer st.connection.mu.Unlock()
		if st.connection.end != nil {
			return st.connection.end
		}
		if len(st.connection.streams) >= int(st.connection.limit) {
			return errFull
		}
		st.id, st.window = st.connection.next, st.connection.streamWindow
		st.connection.next += 2 // the even ones are the server's (section 5.1.1)
		st.connection.streams[st.id] = st
		return st.writeHead(w, head, ends)
	})
}

// writeHead writes HEADERS, and CONTINUATION for what they do not hold (section 6.2).
func (st *stream) writeHead(w *http2.Framer, block []byte, ends bool) error {
	part := block[:min(len(block), maxFrame)]
	block = block[len(part):]
	st.sent += int64(frameHead + len(part))
	err := w.WriteHeaders(http2.HeadersFrameParam{StreamID: st.id, BlockFragment: part, EndStream: ends, EndHeaders: len(block) == 0})
	for len(block) > 0 && err == nil {
		part = block[:min(len(block), maxFrame)]
		block = block[len(part):]
		st.sent += int64(frameHead + len(part))
		err = w.WriteContinuation(st.id, len(block) == 0, part)
	}
	return err
}

// send writes the request. The last frame of a burst's member waits until it is released.
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
	st.member.Arrive(st.connection.releaseDue)
	return st.member.Wait()
}

// write writes a part of the body, as soon as the windows take it (section 5.2), and
// whatever the writer still has of this connection. It runs once even for an empty part,
// which sends the head.
func (st *stream) write(ctx context.Context, part []byte, ends bool) error {
	until, _ := ctx.Deadline()
	for first := true; first || len(part) > 0; first = false {
		n, err := st.claim(ctx, len(part))
		if err != nil {
			return err
		}
		err = st.connection.out.write(until, func(w *http2.Framer) error {
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

// claim waits until the windows of the stream and of the connection take some of so many
// bytes, and uses them. A stream that broke has none. It returns at most one frame's
// worth.
func (st *stream) claim(ctx context.Context, wanted int) (int, error) {
	for {
		st.connection.mu.Lock()
		if st.err != nil {
			st.connection.mu.Unlock()
			return 0, st.err
		}
		n := min(int64(wanted), max(st.window, 0), max(st.connection.window, 0), maxFrame)
		if n > 0 || wanted == 0 {
			st.window -= n
			st.connection.window -= n
			st.connection.mu.Unlock()
			return int(n), nil
		}
		widened := st.connection.widened
		st.connection.mu.Unlock()
		select {
		case <-widened:
		case <-st.over:
			return 0, errors.New("the answer was over before the request")
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// hold makes the stream ready to be released: only its last frame is missing.
func (st *stream) hold(ctx context.Context, last []byte) error {
	if _, err := st.claim(ctx, len(last)); err != nil {
		return err
	}
	st.connection.mu.Lock()
	defer st.connection.mu.Unlock()
	st.last = last
	st.connection.held = append(st.connection.held, st)
	return nil
}

// releaseDue writes the last frames of all streams that are held and due, in one write: what delays it delays
// all of them alike. The calls of further members of the same wave find none left.
func (c *connection) releaseDue() {
	c.releasing.Lock()
	defer c.releasing.Unlock()
	var due []*stream
	err := c.out.write(time.Now().Add(openTimeout), func(w *http2.Framer) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held = slices.DeleteFunc(c.held, func(st *stream) bool {
			if !st.member.Due() {
				return false
			}
			if c.streams[st.id] != st {
				return true // it was given up
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

// wait returns when the answer is over, or the client's timeout.
func (st *stream) wait(ctx context.Context) error {
	select {
	case <-st.over:
		return st.err
	case <-ctx.Done():
		return st.giveUp(context.Cause(ctx))
	}
}

// giveUp ends an answer that is not over, and returns why it is not whole.
func (st *stream) giveUp(err error) error {
	st.connection.with(st.id, func(st *stream) { st.done(err) })
	return st.err
}

// close returns what was seen of the stream. Where it is not over in both directions it resets it (section 5.4.2), if other streams
// are on the connection: else the connection is closed, which a fault of the lane can keep from the server, as in HTTP/1.1.
// An answer may have been noted before the write that it answers.
func (st *stream) close(shared bool) Result {
	st.connection.mu.Lock()
	delete(st.connection.streams, st.id)
	st.connection.held = slices.DeleteFunc(st.connection.held, func(held *stream) bool { return held == st })
	closed := st.reset || st.complete && st.wrote != 0
	st.connection.mu.Unlock()
	if !closed && shared {
		st.connection.say(func(w *http2.Framer) error { return w.WriteRSTStream(st.id, http2.ErrCodeCancel) })
	}
	if st.replied != 0 {
		st.wrote = min(st.wrote, st.replied)
	}
	return Result{Sent: st.sent, Wrote: st.wrote, Replied: st.replied, Status: st.status, Header: st.header, Complete: st.complete}
}
