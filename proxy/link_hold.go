package proxy

import "time"

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

// holds returns for how long a question has to wait; 0: it is not the one. The holding is
// then over: it holds once.
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

// fits reports that bytes are the beginning of a question of this kind.
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
