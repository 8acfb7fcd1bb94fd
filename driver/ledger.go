package driver

import (
	"slices"
	"sync"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// ledger is what a driver remembers of the attempts that it sent. What is final goes on record and is
// forgotten, so that a long run needs no more memory than a short one. The zero value is that of a driver
// that has sent nothing. Safe for concurrent use.
type ledger struct {
	mu        sync.Mutex
	questions map[string][]question // by intent, in the order of first sending
	watched   []watched             // whose passages are not on record yet
	enough    int                   // of watched, before it is worth looking which are over
	accepted  []accepted            // whose end nobody has asked for yet
	unseen    bool                  // somebody left a request behind whose end nobody saw
	broke     bool                  // a request on the clean lane broke
}

// question is one key and body whose final answer is wanted.
type question struct{ intent, key, body string }

// watched is an attempt that has ended for its client and may not have for the target.
type watched struct {
	attempt  string
	complete bool // the client has the whole answer
	passage  Passage
}

// accepted is an attempt that was told where to ask what became of it.
type accepted struct {
	attempt, intent, body string
	end                   history.Offset
	url, where            string // of the request, and where to ask
}

// least is how many passages are kept before it is worth looking which are over.
const least = 64

// sending takes down an attempt before it is sent.
func (l *ledger) sending(a history.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := question{a.Intent, a.Key, history.Meaning(a.Body)}
	if l.questions == nil {
		l.questions = map[string][]question{}
	}
	if !slices.Contains(l.questions[q.intent], q) {
		l.questions[q.intent] = append(l.questions[q.intent], q)
	}
}

// sent takes down an attempt that has ended, and puts on record which passages are over.
func (l *ledger) sent(s *shot, record *history.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broke = l.broke || s.record.Lane == scenarios.Clean && !s.record.Complete
	if s.passage == nil {
		l.unseen = l.unseen || !s.record.Complete
		return
	}
	l.watched = append(l.watched, watched{attempt: s.record.ID, complete: s.record.Complete, passage: s.passage})
	if len(l.watched) >= max(least, l.enough) {
		_ = l.settle(record, func(w watched) bool { return w.passage.Over() }) // a failed write is noticed by the next attempt
		l.enough = 2 * len(l.watched)
	}
}

// asks returns the questions about an intent.
func (l *ledger) asks(intent string) []question {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.questions[intent]
}

// forget takes back the questions about an intent.
func (l *ledger) forget(intent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.questions, intent)
}

// follow takes down an attempt that was told where to ask what became of it.
func (l *ledger) follow(a accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted = append(l.accepted, a)
}

// unfollowed returns the attempts that were told so since the last call.
func (l *ledger) unfollowed() []accepted {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.accepted
	l.accepted = nil
	return all
}

// settle puts the passages that are final on record and forgets them.
func (l *ledger) settle(record *history.Writer, final func(watched) bool) error {
	var failed error
	l.watched = slices.DeleteFunc(l.watched, func(w watched) bool {
		if failed != nil || !final(w) {
			return false
		}
		l.unseen = l.unseen || leftBehind(w)
		failed = record.Passage(w.attempt, w.passage.Facts())
		return failed == nil
	})
	return failed
}

// leftBehind reports that nobody saw the end of a request, or nobody knows whether there was one.
func leftBehind(w watched) bool {
	p := w.passage.Facts()
	return p.Arrived != 0 && p.Answered == 0 || p.Opened == 0 && !w.complete
}

// RecordPassages writes what the doorstep has seen of every attempt, as far as it is not on record
// yet. Call it when the target is quiet: a passage is written once.
func (d *Driver) RecordPassages() error {
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	return d.ledger.settle(d.Record, func(watched) bool { return true })
}

// Suspicious reports whether clients left requests behind whose end nobody saw, and whether a
// request on the clean lane broke: then the target may still be working, or be gone.
func (d *Driver) Suspicious() (unseen, broke bool) {
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	return d.ledger.unseen || slices.ContainsFunc(d.ledger.watched, leftBehind), d.ledger.broke
}
