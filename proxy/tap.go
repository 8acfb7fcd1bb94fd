package proxy

import (
	"bytes"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// headLimit bounds what is kept of an answer while its status is looked for.
const headLimit = 16 << 10

// Tap records what happens to one connection upstream of its lane's faults, where the
// target is, and keeps back the last byte of a burst's member. [Lanes.Dial] makes it; the
// upstream tap fills it in, and the driver reads it, at any time. What it does not know is
// zero, and zero never means "nothing happened": a lane in doubt reads zero as a whole.
// Safe for concurrent use.
type Tap struct {
	base     time.Time
	doubtful *atomic.Bool  // of the lane
	arrived  chan struct{} // closed when the connection stands at the upstream tap
	instance int           // of the target, to which the connection is to go, from 1; 0: as the lane leads

	mu       sync.Mutex
	facts    history.Passage
	head     []byte    // beginning of the answer, until its status is known
	read     bool      // the status is known, or will never be
	over     bool      // nothing more will be seen
	up, down *frames   // of HTTP/2; nil: all bytes are of the request and its answer
	fault    *tlsError // that kept the target and the upstream tap from understanding each other; nil: none
	held     hold
	stay     time.Duration // after the release the connection to the target is closed; 0: it is not
	relay    *relay        // nil: the target has not taken the connection
}

// hold is what is to be kept back of a request.
type hold struct {
	size   int64 // bytes of the request, the last of which is kept back; 0: none is
	came   int64
	arrive func(release func())
	leave  func()
	all    func() <-chan struct{}
	away   bool // it will not come any more
}

// newTap makes the tap of a connection that has not arrived yet.
func newTap(base time.Time, doubtful *atomic.Bool) *Tap {
	return &Tap{base: base, doubtful: doubtful, arrived: make(chan struct{})}
}

// countFrames makes a tap one of a connection in HTTP/2, whose status lines it cannot read.
func (p *Tap) countFrames() { p.up, p.down, p.read = &frames{preface: clientPreface}, &frames{}, true }

// Hold keeps the last of a request's size bytes at the upstream tap: when all others have come through the faults,
// arrive is called with the function that releases it. If they never come, leave is called, perhaps more than once.
// Answered is called when the target begins to answer: the channel that it returns is closed when it has answered all other members of
// the burst as well; nil: that is not known. Call Hold before the first byte is sent. It reports whether the lane has an upstream tap that
// can hold the request.
func (p *Tap) Hold(size int64, arrive func(release func()), leave func(), answered func() <-chan struct{}) bool {
	select {
	case <-p.arrived:
	default:
		return false
	}
	if p.doubtful.Load() {
		return false
	}
	p.mu.Lock()
	away := p.held.away
	p.held = hold{size: size, arrive: arrive, leave: leave, all: answered, away: away}
	p.mu.Unlock()
	if away {
		leave()
	}
	return true
}

// LeaveAfter closes the connection to the target so long after what is held was released, as a client that leaves does,
// but at that moment: the wait does not yield the processor. Call it before Hold, for a few milliseconds at most.
func (p *Tap) LeaveAfter(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stay = d
}

// stays is how long the connection stays after a release; 0: for ever.
func (p *Tap) stays() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stay
}

// split divides what has come of a request into what is passed on and what is kept back.
func (p *Tap) split(b []byte) (pass, keep []byte) {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &p.held
	if h.size == 0 {
		return b, nil
	}
	if h.came += int64(len(b)); h.came < h.size {
		return b, nil
	}
	cut := int64(len(b)) - (h.came - h.size) - 1
	h.size, p.facts.Held = 0, at
	return b[:cut], b[cut:]
}

// arriveAtBarrier tells the barrier of the burst that only the last byte is missing.
func (p *Tap) arriveAtBarrier(release func()) {
	p.mu.Lock()
	arrive := p.held.arrive
	p.mu.Unlock()
	arrive(release)
}

// recordRelease is recordPassing for what was held.
func (p *Tap) recordRelease(b []byte) (passed func(m int)) {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.facts.Released = at
	return p.recordBytes(at, b)
}

// burst is for how long after a release no answer is passed on, unless the target has answered all members of the burst. What the first answers set off, from the
// lane to the client, would take the processor from the members of the burst that come last: measured, it
// doubles the spread at the 99th percentile.
const burst = 5 * time.Millisecond

// awaitBurst keeps an answer that has come for the sake of the burst.
func (p *Tap) awaitBurst() {
	p.mu.Lock()
	answered := p.held.all
	p.mu.Unlock()
	var all <-chan struct{}
	if answered != nil {
		all = answered()
	}
	left := p.holdOff()
	if left <= 0 {
		return
	}
	longest := time.NewTimer(left)
	defer longest.Stop()
	select {
	case <-all:
	case <-longest.C:
	}
}

// holdOff returns how long an answer is still kept for the sake of the burst.
func (p *Tap) holdOff() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.facts.Released == 0 {
		return 0
	}
	return (p.facts.Released - p.now()).Duration() + burst
}

// leaveBarrier tells the barrier that the connection will not arrive any more, if it has not.
func (p *Tap) leaveBarrier() {
	p.mu.Lock()
	p.held.away = true
	leave := p.held.leave
	p.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// Facts returns what was observed so far, of the first exchange if there is more than one. It is
// zero if the lane has no upstream tap, or if it became doubtful which connection is whose.
func (p *Tap) Facts() history.Passage {
	if p.doubtful.Load() {
		return history.Passage{}
	}
	return p.observed()
}

// Over reports that nothing more will be seen: the connection has left the upstream tap, or never comes there.
func (p *Tap) Over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// recordEnd notes that nothing more will be seen.
func (p *Tap) recordEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// observed is Facts without regard to whose connection it is.
func (p *Tap) observed() history.Passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.facts
}

// now is the present moment of the run, never zero.
func (p *Tap) now() history.Offset {
	return max(1, history.Offset(time.Since(p.base)))
}

// recordRefused notes that the target took no connection.
func (p *Tap) recordRefused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.facts.Refused = true
}

// tlsError is what went wrong with TLS. It is an error of the network.
type tlsError struct{ error }

// It is a net.Error, so that whoever tells errors of the network from others takes it for one.
// Waiting does not help against it.
func (e *tlsError) Unwrap() error   { return e.error }
func (e *tlsError) Timeout() bool   { return false }
func (e *tlsError) Temporary() bool { return false }

// recordTrouble notes what went wrong with TLS between tap and target. The client is told
// that in place of the plain close that it would see.
func (p *Tap) recordTrouble(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = &tlsError{err}
}

// explain returns what went wrong with TLS instead of an error that comes of it.
func (p *Tap) explain(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil {
		return p.fault
	}
	return err
}

// recordOpened notes that the target took the connection, or that it has it from an exchange before.
func (p *Tap) recordOpened(r *relay) {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.facts.Opened, p.relay = at, r
}

// leftOpen reports that a request in HTTP/1.1 was answered on the connection, and that neither side has left it.
func (p *Tap) leftOpen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.facts.Answered != 0 && p.facts.Left == 0 && p.facts.Closed == 0 && p.up == nil
}

// recordPassing records that b is about to be passed to the target. It is called before they are: the answer
// may be there, and the connection closed, before the writing call has returned.
// The function it returns takes back what was not passed after all.
func (p *Tap) recordPassing(b []byte) (passed func(m int)) {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recordBytes(at, b)
}

// recordBytes counts bytes of the request. Arrived moves with every one of them until the
// target answers: it is when the last of the request came, since only a whole request is
// executed. It is called with mu held.
func (p *Tap) recordBytes(at history.Offset, b []byte) (passed func(m int)) {
	n := len(b)
	if p.up != nil {
		n = p.up.of(b)
	}
	before := p.facts.Arrived
	if p.facts.Answered == 0 && n > 0 {
		p.facts.Arrived = at
	}
	p.facts.Up += int64(n)
	return func(m int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.facts.Up -= int64(min(n, len(b)-m))
		if m == 0 {
			p.facts.Arrived = before
		}
	}
}

// recordAnswer records that the target sent b.
func (p *Tap) recordAnswer(b []byte) {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(b)
	if p.down != nil {
		n = p.down.of(b)
	}
	p.facts.Down += int64(n)
	if p.facts.Answered == 0 && n > 0 {
		p.facts.Answered = at
	}
	if p.read {
		return
	}
	p.head = append(p.head, b...)
	p.readStatus(at)
	if p.read || len(p.head) > headLimit {
		p.head, p.read = nil, true
	}
}

// readStatus reads the status in head. An interim answer such as 100 Continue is not the answer:
// it is skipped, and the answer is still to come.
func (p *Tap) readStatus(at history.Offset) {
	for {
		status, enough := statusOf(p.head)
		if !enough {
			return
		}
		if status == 0 || status == 101 || status >= 200 {
			p.facts.Status, p.read = status, true
			return
		}
		p.facts.Answered = 0
		_, rest, complete := bytes.Cut(p.head, []byte("\r\n\r\n"))
		if !complete {
			return
		}
		p.head = rest
		if len(rest) > 0 {
			p.facts.Answered = at
		}
	}
}

// statusOf reads the status of an HTTP/1.x status line (RFC 9112, section 4), zero if head
// is no such thing. Enough says whether head was long enough to tell.
func statusOf(head []byte) (status int, enough bool) {
	const version, shortest = "HTTP/1.", len("HTTP/1.1 200")
	if n := min(len(head), len(version)); string(head[:n]) != version[:n] {
		return 0, true
	}
	if len(head) < shortest {
		return 0, false
	}
	status, err := strconv.Atoi(string(head[shortest-3 : shortest]))
	if err != nil || status < 100 || head[shortest-4] != ' ' {
		return 0, true
	}
	return status, true
}

// recordLeft records that the client's side is gone, unless the target's went first.
func (p *Tap) recordLeft() {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over && p.facts.Closed == 0 && p.facts.Left == 0 {
		p.facts.Left = at
	}
}

// recordClosed notes when the connection to the target ended, whichever side ended it.
func (p *Tap) recordClosed() {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over && p.facts.Closed == 0 {
		p.facts.Closed = at
	}
}

// inFlight says whether the target has (part of) a request that it has not begun to answer.
func (p *Tap) inFlight() bool {
	f := p.observed()
	return f.Arrived != 0 && f.Answered == 0 && f.Closed == 0
}
