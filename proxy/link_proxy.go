package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// LinkProxy stands on a link inside the target for a whole run: a listener on the address that the target was told
// to use, and a toxiproxy proxy behind it. Its connections are the target's and stay open from one scenario to the
// next. So toxics that slow it come and go while connections are open, and the listener itself breaks it. Safe for
// concurrent use.
type LinkProxy struct {
	name     string
	listener net.Listener
	behind   *PlainLink
	relays   sync.WaitGroup // the accepting goroutine and the relays

	changing sync.Mutex // held while faults come or go

	mu      sync.Mutex // guards what follows
	open    map[*linkConnection]struct{}
	closed  bool
	moments int       // questions and answers so far
	base    time.Time // offsets count from here; zero: nothing is noted
	words   []string  // by which writes are known that are noted
	noted   []history.Exchange
	armed   *Strike
	holding *Holding
	dead    time.Time // no connection is taken before
}

// OpenLinkProxy opens a link proxy between the addresses listen and to, each host:port; its faults are those of [LinkProxy.Slow]. Of the options only Toxiproxy matters.
func OpenLinkProxy(ctx context.Context, name, listen, to string, o Options) (*LinkProxy, error) {
	behind, err := OpenLink(ctx, Link{Name: name, Upstream: to}, o)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open link %q: %w", name, err), behind.Close())
	}
	l := &LinkProxy{name: name, listener: listener, behind: behind, open: map[*linkConnection]struct{}{}}
	l.relays.Go(l.accept)
	return l, nil
}

// Address is where the link listens, as host:port; the port is the true one if it was given as 0.
func (l *LinkProxy) Address() string { return l.listener.Addr().String() }

// Moments counts the questions and answers that have passed the link since it was opened.
func (l *LinkProxy) Moments() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moments
}

// Slow makes the link slow, for the connections that are there as well, and describes it. Faults that
// would break connections give an error.
func (l *LinkProxy) Slow(ctx context.Context, faults []faults.Fault) (history.Link, error) {
	facts := history.Link{Name: l.name, Proxy: l.behind.facts.Proxy}
	all, err := effectsOf(faults)
	for _, f := range faults {
		if f.Latency == nil && f.Bandwidth == nil && f.Slice == nil {
			err = errors.Join(err, fmt.Errorf("%s does not slow a link down", f))
		}
	}
	if err != nil {
		return facts, fmt.Errorf("slow link %q down: %w", l.name, err)
	}
	facts.Faults, facts.Delay = all.words, history.Offset(leastDelay(all.toxics))
	l.changing.Lock()
	defer l.changing.Unlock()
	for i, t := range all.toxics {
		if err := l.behind.proxy.add(ctx, i, t); err != nil {
			return facts, fmt.Errorf("slow link %q down: %w", l.name, err)
		}
	}
	return facts, nil
}

// ClearToxics removes what slows the link down. It may be repeated.
func (l *LinkProxy) ClearToxics(ctx context.Context) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	if err := l.behind.proxy.clearToxics(ctx); err != nil {
		return fmt.Errorf("clear toxics of link %q: %w", l.name, err)
	}
	return nil
}

// Note begins to note what passes, by offsets from base. A question with one of the words is a write.
func (l *LinkProxy) Note(base time.Time, words ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base, l.words, l.noted = base, words, nil
}

// Noted ends that, and returns what has passed.
func (l *LinkProxy) Noted() history.Traffic {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := history.Traffic{Link: l.name, Exchanges: l.noted}
	l.base, l.noted = time.Time{}, nil
	return t
}

// Strike is a break of a link that is to come.
type Strike struct {
	link  *LinkProxy
	base  time.Time
	left  int           // moments until it comes; of those of its word, if it has one
	word  faults.Moment // empty: all moments count
	words []string      // by which writes are known
	pause time.Duration
	facts history.Cut
}

// Strike breaks the link once, at a moment from now: what would pass then does not get through, all
// connections are reset, and no other is taken for the time of the pause. Offsets count from base. A question with one
// of the words is a write. A strike that has not come is replaced by the next.
func (l *LinkProxy) Strike(base time.Time, moment faults.Moment, pause time.Duration, words ...string) *Strike {
	s := &Strike{link: l, base: base, left: moment.Count(), pause: pause, words: words, facts: history.Cut{Link: l.name, Moment: string(moment)}}
	if s.left == 0 {
		s.word, s.left = moment.Word()
		s.left = max(s.left, 1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = s
	return s
}

// message is what is about to pass on a connection, and is not more of the same.
type message struct {
	answer  bool // false: a question
	turns   bool // the last was of the other kind
	commits bool // the question is seen to ask for a commit
	writes  bool // the question is seen to be a write
}

// due reports whether this is the moment. Moments are counted by turns between question and answer. A commit, or a
// write, that follows a question without an answer is no turn, and is known by its word.
func (s *Strike) due(p *linkConnection, m message) bool {
	counts := m.turns
	switch s.word {
	case faults.AtCommit:
		counts = m.commits
	case faults.AtCommitted:
		counts = m.answer && p.commits
	case faults.AtWrite:
		counts = m.writes
	case faults.AtWritten:
		counts = m.answer && p.writes
	}
	if counts {
		s.left--
	}
	return counts && s.left == 0
}

// Over calls off a strike that has not come, and returns what came of it.
func (s *Strike) Over() history.Cut {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	if s.link.armed == s {
		s.link.armed = nil
	}
	return s.facts
}

// Question is a kind of question that passes a link.
type Question string

// The kinds.
const (
	AnyQuestion Question = ""
	Begin       Question = "begin"  // of a transaction
	Commit      Question = "commit" // of one
)

// Holding is a question that is to be held.
type Holding struct {
	link  *LinkProxy
	kind  Question
	left  int // questions of the kind until it comes
	pause time.Duration
	held  chan struct{}
}

// Hold keeps the n-th question of a kind from now for the time of the pause; whatever passes on other connections goes on.
// A holding that has not come is replaced by the next.
func (l *LinkProxy) Hold(kind Question, n int, pause time.Duration) *Holding {
	h := &Holding{link: l, kind: kind, left: n, pause: pause, held: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holding = h
	return h
}

// Held is closed when the question is there.
func (h *Holding) Held() <-chan struct{} { return h.held }

// CallOff calls off a holding that has not come.
func (h *Holding) CallOff() {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	if h.link.holding == h {
		h.link.holding = nil
	}
}

// holds returns for how long a question has to wait.
func (l *LinkProxy) holds(p *linkConnection, question []byte) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.holding
	if h == nil || !h.kind.fits(p, question) {
		return 0
	}
	if h.left--; h.left > 0 {
		return 0
	}
	l.holding = nil
	close(h.held)
	return h.pause
}

func (k Question) fits(p *linkConnection, question []byte) bool {
	switch k {
	case Begin:
		return saysBegin(question)
	case Commit:
		return saysCommit(question)
	default:
		return p.answered // else it is more of the same
	}
}

// Close closes the link and all connections on it. It may be repeated.
func (l *LinkProxy) Close() error {
	l.mu.Lock()
	l.closed = true
	for p := range l.open {
		p.abandon()
	}
	l.mu.Unlock()
	err := l.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	err = errors.Join(err, l.behind.Close())
	l.relays.Wait()
	return err
}

func (l *LinkProxy) accept() {
	acceptAll(context.Background(), l.listener, func(near *net.TCPConn) { l.relays.Go(func() { l.serve(near) }) })
}

// serve relays one connection until both sides are done with it.
func (l *LinkProxy) serve(near *net.TCPConn) {
	if l.isDead() {
		resetConn(near)
		return
	}
	far, err := net.DialTimeout("tcp", l.behind.Address(), handshake)
	if err != nil {
		resetConn(near)
		return
	}
	p := &linkConnection{link: l, near: near, far: far.(*net.TCPConn), answered: true}
	if !l.admit(p) {
		p.abandon()
		return
	}
	defer l.forget(p)
	p.relay()
}

func (l *LinkProxy) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed || time.Now().Before(l.dead)
}

// admit takes a connection, unless the link broke or was closed while it was made.
func (l *LinkProxy) admit(p *linkConnection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || time.Now().Before(l.dead) {
		return false
	}
	l.open[p] = struct{}{}
	return true
}

func (l *LinkProxy) forget(p *linkConnection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, p)
}

// passes notes that bytes are about to pass on a connection, and reports whether they may: the link may break at
// this moment.
func (l *LinkProxy) passes(p *linkConnection, answer bool, content []byte) bool {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.broken {
		return false
	}
	m := l.reads(p, answer, content)
	if !m.turns && !m.commits && !m.writes {
		return true
	}
	if m.turns {
		l.moments++
	}
	if l.armed != nil && l.armed.due(p, m) {
		l.breaks(now, answer)
		return false
	}
	switch {
	case !m.turns:
	case !answer:
		p.asked = now
	case !l.base.IsZero() && p.asked.After(l.base):
		l.noted = append(l.noted, history.Exchange{
			Asked: offset(l.base, p.asked), Answered: offset(l.base, now), Begins: p.begins, Commits: p.commits, Writes: p.writes,
		})
	}
	return true
}

// reads says what is new in bytes that are about to pass, and keeps it with the connection. It is called with the lock
// held.
func (l *LinkProxy) reads(p *linkConnection, answer bool, content []byte) message {
	m := message{answer: answer, turns: answer != p.answered}
	p.answered = answer
	if answer {
		return m
	}
	if m.turns {
		p.begins, p.commits, p.writes = false, false, false
	}
	words := l.words
	if l.armed != nil {
		words = l.armed.words
	}
	m.commits = !p.commits && saysCommit(content)
	m.writes = !p.writes && slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(content, []byte(word)) })
	p.begins, p.commits, p.writes = p.begins || saysBegin(content), p.commits || m.commits, p.writes || m.writes
	return m
}

// breaks is the strike that is due. It is called with the lock held.
func (l *LinkProxy) breaks(now time.Time, answer bool) {
	s := l.armed
	l.armed, l.dead = nil, now.Add(s.pause)
	s.facts.At, s.facts.Answer, s.facts.Connections = offset(s.base, now), answer, len(l.open)
	s.facts.Away = history.Offset(s.pause)
	for p := range l.open {
		p.breaks()
	}
}

// mostOfACommit is how far into a question the word is looked for: commits are short.
const mostOfACommit = 64

func saysCommit(question []byte) bool { return says(question, "commit") }

func saysBegin(question []byte) bool {
	return says(question, "begin") || says(question, "start transaction")
}

func says(question []byte, words string) bool {
	return bytes.Contains(bytes.ToLower(question[:min(len(question), mostOfACommit)]), []byte(words))
}

func offset(base, at time.Time) history.Offset { return max(1, history.Offset(at.Sub(base))) }

// resetConn resets a connection.
func resetConn(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
