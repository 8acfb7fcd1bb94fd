package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// Wire is a link inside the target that is there for a whole run: a listener of ours on the address that
// the target was told to use, and a toxiproxy proxy behind it. The connections on it are the target's and
// live on from one scenario to the next, so what slows it comes and goes while they live, and what breaks
// it is done by the listener. Its methods are safe for concurrent use.
type Wire struct {
	name     string
	listener net.Listener
	behind   *LiveLink
	pairs    sync.WaitGroup // the accepting goroutine and the relays

	changing sync.Mutex // held while faults come or go

	mu      sync.Mutex // guards what follows
	open    map[*pair]struct{}
	closed  bool
	moments int       // questions and answers so far
	base    time.Time // offsets count from here; zero: nothing is noted
	noted   []history.Exchange
	armed   *Strike
	dead    time.Time // no connection is taken before
}

// OpenWire opens a wire; its faults are those of [Wire.Slow]. Of the options only Toxiproxy matters.
func OpenWire(ctx context.Context, name, listen, to string, o Options) (*Wire, error) {
	behind, err := OpenLink(ctx, Link{Name: name, Upstream: to}, o)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open link %q: %w", name, err), behind.Close())
	}
	w := &Wire{name: name, listener: listener, behind: behind, open: map[*pair]struct{}{}}
	w.pairs.Go(w.accept)
	return w, nil
}

// Address is where the wire listens, as host:port; the port is the true one if it was given as 0.
func (w *Wire) Address() string { return w.listener.Addr().String() }

// Moments counts the questions and answers that have passed the wire since it was opened.
func (w *Wire) Moments() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moments
}

// Slow makes the wire slow, for the connections that are there as well, and describes it. Faults that
// would break connections are a mistake.
func (w *Wire) Slow(ctx context.Context, faults []faults.Fault) (history.Link, error) {
	facts := history.Link{Name: w.name, Proxy: w.behind.facts.Proxy}
	all, err := effectsOf(faults)
	for _, f := range faults {
		if f.Latency == nil && f.Bandwidth == nil && f.Slice == nil {
			err = errors.Join(err, fmt.Errorf("%s does not slow a link down", f))
		}
	}
	if err != nil {
		return facts, fmt.Errorf("slow link %q down: %w", w.name, err)
	}
	facts.Faults, facts.Delay = all.words, history.Offset(leastDelay(all.toxics))
	w.changing.Lock()
	defer w.changing.Unlock()
	for i, t := range all.toxics {
		if err := w.behind.road.add(ctx, i, t); err != nil {
			return facts, fmt.Errorf("slow link %q down: %w", w.name, err)
		}
	}
	return facts, nil
}

// Calm removes what slows the wire down. It may be repeated.
func (w *Wire) Calm(ctx context.Context) error {
	w.changing.Lock()
	defer w.changing.Unlock()
	if err := w.behind.road.calm(ctx); err != nil {
		return fmt.Errorf("calm link %q: %w", w.name, err)
	}
	return nil
}

// Note begins to note what passes, by offsets from base.
func (w *Wire) Note(base time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base, w.noted = base, nil
}

// Noted ends that, and returns what has passed.
func (w *Wire) Noted() history.Traffic {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := history.Traffic{Link: w.name, Exchanges: w.noted}
	w.base, w.noted = time.Time{}, nil
	return t
}

// Strike is a break of a wire that is to come.
type Strike struct {
	wire   *Wire
	base   time.Time
	left   int           // moments until it comes
	moment faults.Moment // if it has a word; empty: left counts
	pause  time.Duration
	facts  history.Cut
}

// Strike breaks the wire once, at a moment from now: what would pass then does not get through, all
// connections are reset, and no other is taken for the time of the pause. Offsets count from base. A strike
// that has not come is replaced by the next.
func (w *Wire) Strike(base time.Time, moment faults.Moment, pause time.Duration) *Strike {
	s := &Strike{wire: w, base: base, left: moment.Count(), pause: pause, facts: history.Cut{Link: w.name, Moment: string(moment)}}
	if s.left == 0 {
		s.moment = moment
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = s
	return s
}

// due reports whether this is the moment. A commit may follow on something that has no answer, and is then
// no turn, which is what counts.
func (s *Strike) due(p *pair, answer, turns bool) bool {
	switch s.moment {
	case faults.AtCommit:
		return !answer && p.commits
	case faults.AtCommitted:
		return answer && p.commits
	default:
		if turns {
			s.left--
		}
		return s.left == 0
	}
}

// Over calls a strike off that has not come, and tells what came of it.
func (s *Strike) Over() history.Cut {
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	if s.wire.armed == s {
		s.wire.armed = nil
	}
	return s.facts
}

// Close closes the wire and all connections on it. It may be repeated.
func (w *Wire) Close() error {
	w.mu.Lock()
	w.closed = true
	for p := range w.open {
		p.abandon()
	}
	w.mu.Unlock()
	err := w.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	err = errors.Join(err, w.behind.Close())
	w.pairs.Wait()
	return err
}

func (w *Wire) accept() {
	acceptAll(context.Background(), w.listener, func(near *net.TCPConn) { w.pairs.Go(func() { w.serve(near) }) })
}

// serve relays one connection until both sides are done with it.
func (w *Wire) serve(near *net.TCPConn) {
	if w.isDead() {
		slam(near)
		return
	}
	far, err := net.DialTimeout("tcp", w.behind.Address(), handshake)
	if err != nil {
		slam(near)
		return
	}
	p := &pair{wire: w, near: near, far: far.(*net.TCPConn), answered: true}
	if !w.admit(p) {
		p.abandon()
		return
	}
	defer w.forget(p)
	p.relay()
}

func (w *Wire) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed || time.Now().Before(w.dead)
}

// admit lets a connection in, unless the wire broke or was closed while it was made.
func (w *Wire) admit(p *pair) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || time.Now().Before(w.dead) {
		return false
	}
	w.open[p] = struct{}{}
	return true
}

func (w *Wire) forget(p *pair) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, p)
}

// passes takes down that bytes are about to pass on a connection, and reports whether they may: the wire
// may break at this moment.
func (w *Wire) passes(p *pair, answer bool, content []byte) bool {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.broken {
		return false
	}
	turns, commits := answer != p.answered, !answer && saysCommit(content)
	if !turns && !commits {
		return true // more of the same
	}
	p.answered = answer
	p.commits = commits || answer && p.commits
	if turns {
		w.moments++
	}
	if w.armed != nil && w.armed.due(p, answer, turns) {
		w.breaks(now, answer)
		return false
	}
	switch {
	case !turns:
	case !answer:
		p.asked = now
	case !w.base.IsZero() && p.asked.After(w.base):
		w.noted = append(w.noted, history.Exchange{Asked: offset(w.base, p.asked), Answered: offset(w.base, now)})
	}
	return true
}

// breaks is the strike that is due. It is called with the lock held.
func (w *Wire) breaks(now time.Time, answer bool) {
	s := w.armed
	w.armed, w.dead = nil, now.Add(s.pause)
	s.facts.At, s.facts.Answer, s.facts.Connections = offset(s.base, now), answer, len(w.open)
	s.facts.Away = history.Offset(s.pause)
	for p := range w.open {
		p.breaks()
	}
}

// mostOfACommit is how far into a question the word is looked for: commits are short.
const mostOfACommit = 64

func saysCommit(question []byte) bool {
	return bytes.Contains(bytes.ToLower(question[:min(len(question), mostOfACommit)]), []byte("commit"))
}

func offset(base, at time.Time) history.Offset { return max(1, history.Offset(at.Sub(base))) }

// slam resets a connection.
func slam(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
