package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// goneAfter is the number of attempts in a row, of any intents, that find no target before sending stops.
const goneAfter = 8

// transmitter puts requests on the wire and on record, and stops sending when more of it
// would show nothing new. All phases of one sender share it. Safe for concurrent use.
type transmitter struct {
	config   *Config
	requests *requests
	books    *bookkeeping
	breaks   *linkBreaks
	halt     context.CancelCauseFunc // set before anything is sent
	unwell   atomic.Bool             // the target had its time to recover from a break, and did not

	mu      sync.Mutex
	turns   map[string]int // by intent: which dialer is the next
	refused int            // attempts in a row that found no target
	waiting waiting
}

// waiting is what is known of a target that leaves requests without an answer.
type waiting struct {
	sent, probed map[string]bool // intents that waited in vain, before the final retry and in it
	answered     bool            // any request was
}

// inVain reports that a client on the clean lane waited until its deadline, which was none of the scenario's, and got no
// answer.
func inVain(a history.Attempt) bool {
	return a.Lane == scenarios.Clean && a.ErrorKind == history.Timeout && a.Wrote != 0 && a.Deadline >= history.Offset(usualTimeout)
}

// note adds an attempt that has ended. It is called with the transmitter's mu held.
func (w *waiting) note(a history.Attempt) {
	w.answered = w.answered || a.Complete
	if !inVain(a) {
		return
	}
	which := &w.sent
	if a.Probe {
		which = &w.probed
	}
	if *which == nil {
		*which = map[string]bool{}
	}
	(*which)[a.Intent] = true
}

// givenUp reports that so many intents waited in vain that more would show nothing new: each waits out its deadline.
func (t *transmitter) givenUp(final bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if final {
		return t.config.GiveUp > 0 && len(t.waiting.probed) >= t.config.GiveUp
	}
	return t.config.GiveUp > 0 && len(t.waiting.sent) >= t.config.GiveUp
}

// haltable runs send until it returns, or halt makes it. It returns why sending ended
// early: the cause that halt was given, the context's, or that of the history; nil: it did
// not. It must return before the next phase calls it: halt is replaced without a lock.
func (t *transmitter) haltable(ctx context.Context, send func(context.Context)) error {
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	t.halt = halt
	send(ctx)
	return t.cutShort(ctx)
}

// cutShort says why sending ended early; nil: it did not.
func (t *transmitter) cutShort(ctx context.Context) error {
	if err := t.config.Record.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// send runs an exchange on its lane. The line "begun" is on disk before the first byte is
// sent: if this process dies, the history still says that the target may have seen the
// request.
func (t *transmitter) send(ctx context.Context, o *outgoing) {
	t.books.sending(o.record, t.config.Record)
	begun := o.record
	begun.Start = t.config.now()
	if t.config.Record.Begin(begun) != nil {
		t.halt(t.config.Record.Err())
		o.record.End, o.record.ErrorKind, o.record.Error = t.config.now(), history.Interrupted, "the history cannot be written"
		return
	}
	// Prepare the break before the connection is dialled, and note what came of it when
	// the exchange is over.
	defer t.breaks.strike(o)()
	o.run(ctx, func(ctx context.Context) (net.Conn, error) {
		turn := t.turn(o.record.Intent)
		o.goesTo(t.config, turn)
		conn, tap, err := t.config.Dialers[turn](ctx, o.lane)
		if why := ours(err); why != nil {
			t.halt(why)
		}
		if tap == nil || o.shared { // what is seen of a shared connection tells nothing of one request
			return conn, err
		}
		// A tap counts the bytes of a request to know which is the last. In HTTP/2 it
		// cannot.
		if o.pool == nil {
			o.holder = tap.Hold
			if o.impatient {
				tap.LeaveAfter(o.timeout)
			}
		}
		t.mu.Lock()
		o.tap = tap
		t.mu.Unlock()
		return conn, err
	})
}

// ours returns an error of a dial that the harness itself caused, with what helps; nil: it
// may be the target's doing. Without this, our own lack of file descriptors would be
// recorded as a target that refuses connections.
func ours(err error) error {
	var own interface{ Ours() bool }
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("doubletap has too few file descriptors for its connections, which ulimit -n says: allow it more, or run fewer intents at a time: %w", err)
	case errors.As(err, &own) && own.Ours():
		return err
	default:
		return nil
	}
}

// turn returns which dialer an intent's next connection takes. With several instances each connection of an intent
// goes to the next one, so that a retry reaches another than the request before it, in every run of a plan.
func (t *transmitter) turn(intent string) int {
	if len(t.config.Dialers) == 1 {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turns == nil {
		t.turns = map[string]int{}
		for _, i := range t.config.Plan.Intents {
			t.turns[i.ID] = i.Number - 1
		}
	}
	turn := t.turns[intent]
	t.turns[intent] = turn + 1
	return turn % len(t.config.Dialers)
}

// goesTo has a request name the place that it goes to, and a member of a burst arrive there when the others arrive at theirs.
func (o *outgoing) goesTo(c *Config, turn int) {
	if len(c.Places) == 0 {
		return
	}
	place := c.Places[turn]
	o.http.Host = place.Host
	if o.tls != nil && (c.Target.TLS == nil || c.Target.TLS.ServerName == "") {
		o.tls.ServerName = (&url.URL{Host: place.Host}).Hostname()
	}
	if o.member != nil {
		o.member.later += place.Aim
	}
}

// finish records an attempt that has ended, and does what depends on its answer: backs
// off, remembers where to follow it, and notices when the target is gone. It is called for
// each attempt once, from the goroutine of its batch.
func (t *transmitter) finish(o *outgoing) {
	if err := t.config.Record.Attempt(t.requests.secrets.answer(o.record, t.identity(o.record))); err != nil {
		t.halt(err)
		return
	}
	t.backOff(o.record)
	t.books.sent(o, t.config.Record)
	if t.config.Following != nil {
		if where := t.config.Following.Monitor(o.record); where != "" {
			t.books.follow(accepted{
				attempt: o.record.ID, intent: o.record.Intent, body: o.record.Body, end: o.record.End,
				url: o.target.URL, where: where,
			})
		}
	}
	if t.gone(o) {
		t.halt(ErrTargetGone)
	}
}

// gone counts an attempt that found no target, and reports whether that makes too many in
// a row. A refusal may be the lane's (the client's own dial) or the tap's (the lane let it
// through, and the target did not): both count. Where the target can be waited for, it is,
// and the count begins again.
func (t *transmitter) gone(o *outgoing) bool {
	t.mu.Lock()
	t.waiting.note(o.record)
	found := o.record.ErrorKind != history.Refused && !(o.tap != nil && o.tap.Facts().Refused)
	if t.refused++; found {
		t.refused = 0
	}
	// Unlock before waiting for the target to come back: that may take seconds.
	many, revived := t.refused >= goneAfter, t.config.Controls.Revived
	t.mu.Unlock()
	if !many || revived == nil || !revived() {
		return many
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = 0
	return false
}

// identity returns the identity of the row that an answer names, and keeps it for when the row is to be removed.
func (t *transmitter) identity(a history.Attempt) string {
	if t.config.Hooks.Identity == nil {
		return ""
	}
	identity := t.config.Hooks.Identity(t.requests.one(a.Intent, a.Body).operation.Name, a)
	if identity != "" {
		t.books.identified(a.Intent, identity)
	}
	return identity
}

// paced waits until so many requests may be sent at once, and reports whether they may.
func (t *transmitter) paced(ctx context.Context, requests int) bool {
	err := t.config.Pace.Wait(ctx, requests)
	if err != nil && ctx.Err() == nil {
		t.halt(err)
	}
	return err == nil
}

// backOff holds back all requests after an answer that was throttled and says for how long.
func (t *transmitter) backOff(a history.Attempt) {
	if throttled := t.config.Hooks.Throttled; throttled != nil && throttled(a) {
		t.config.Pace.hold(RetryAfter(a))
	}
}

// maskError is the text of an error, without the secrets in it.
func (t *transmitter) maskError(err error) string { return t.requests.secrets.text(err.Error()) }

// now is the time since the start of the run, at least 1 ns: a zero offset means never.
func (w *Workload) now() history.Offset { return max(1, history.Offset(time.Since(w.Base))) }
