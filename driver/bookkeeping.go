package driver

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// bookkeeping is what a sender remembers of the attempts that it sent. What is final goes on record and is
// forgotten, so that a long run needs no more memory than a short one. The zero value is that of a sender
// that has sent nothing. Safe for concurrent use.
type bookkeeping struct {
	mu         sync.Mutex
	unsent     map[string]history.Intent // of the background traffic, which goes on record when it is sent
	questions  map[string][]question     // by intent, in the order of first sending
	identities map[string]string         // by intent: the last that an answer gave
	watched    []watched                 // whose passages are not on record yet
	enough     int                       // of watched, before it is worth looking which are over
	accepted   []accepted                // that were not followed yet
	left       time.Time                 // when a client last left a request whose end was not seen; zero: none did
	broke      bool                      // a request on the clean lane broke
	told       map[string]told           // by intent: of attempts that are not watched any more
}

// told says how requests were answered.
type told struct{ refused, otherwise bool }

// add notes one more, by its status; 0: it is not known.
func (t told) add(status int) told {
	refused := status >= 400 && status < 500 && status != http.StatusRequestTimeout
	return told{t.refused || refused, t.otherwise || !refused}
}

// question is one key and body whose final answer is wanted: the final retry asks each
// once.
type question struct{ intent, key, body string }

// watched is an attempt that has ended for its client and may not have for the target.
type watched struct {
	attempt  string
	intent   string
	complete bool // the client has the whole answer
	ended    time.Time
	tap      Tap
}

// accepted is an attempt whose answer said where to ask for its outcome.
type accepted struct {
	attempt, intent, body string
	end                   history.Offset
	url, where            string // of the request, and where to ask
}

// leastWatched is how many taps are kept before it is worth looking which are over.
const leastWatched = 64

// intent records an intent, but keeps one of the background traffic until it is sent.
func (b *bookkeeping) intent(i history.Intent, record *history.Writer) error {
	if !i.Behind {
		return record.Intent(i)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unsent == nil {
		b.unsent = map[string]history.Intent{}
	}
	b.unsent[i.ID] = i
	return nil
}

// sending notes an attempt before it is sent, and records its intent if that is not on
// record yet. An invalid body gets no final retry: no client asks what became of one.
func (b *bookkeeping) sending(a history.Attempt, record *history.Writer) {
	b.mu.Lock()
	q := question{a.Intent, a.Key, questionBody(a.Body)}
	if b.questions == nil {
		b.questions = map[string][]question{}
	}
	if a.Body != history.Invalid && !slices.Contains(b.questions[q.intent], q) {
		b.questions[q.intent] = append(b.questions[q.intent], q)
	}
	intent, unsent := b.unsent[a.Intent]
	delete(b.unsent, a.Intent)
	b.mu.Unlock()
	if unsent {
		_ = record.Intent(intent) // a failed write is noticed by the attempt
	}
}

// sent notes an attempt that has ended for its client. Its passage at the tap may go on,
// so it is recorded later, when it is over. Looking at all taps at each attempt would take
// quadratic time: it waits until there are twice as many as were left by the last look.
func (b *bookkeeping) sent(o *outgoing, record *history.Writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broke = b.broke || o.record.Lane == scenarios.Clean && !o.record.Complete
	if o.tap == nil {
		if !o.record.Complete {
			b.left = time.Now()
		}
		b.tell(o.record.Intent, o.record.Status)
		return
	}
	b.watched = append(b.watched, watched{attempt: o.record.ID, intent: o.record.Intent, complete: o.record.Complete, ended: time.Now(), tap: o.tap})
	if len(b.watched) >= max(leastWatched, b.enough) {
		_ = b.settle(record, func(w watched) bool { return w.tap.Over() }) // a failed write is noticed by the next attempt
		b.enough = 2 * len(b.watched)
	}
}

// asks returns the questions about an intent, in the order in which they were first sent.
func (b *bookkeeping) asks(intent string) []question {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.questions[intent]
}

// forget drops the questions about an intent, whose row was removed: the keys belonged to
// it.
func (b *bookkeeping) forget(intent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.questions, intent)
}

// identified notes the identity of the row of an intent, as the last answer gave it.
func (b *bookkeeping) identified(intent, identity string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.identities == nil {
		b.identities = map[string]string{}
	}
	b.identities[intent] = identity
}

// identity returns the identity of the row of an intent.
func (b *bookkeeping) identity(intent string) (identity string, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	identity, known = b.identities[intent]
	return identity, known
}

// follow notes an attempt whose answer said where to ask for its outcome.
func (b *bookkeeping) follow(a accepted) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.accepted = append(b.accepted, a)
}

// unfollowed returns the accepted attempts since the last call.
func (b *bookkeeping) unfollowed() []accepted {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.accepted
	b.accepted = nil
	return all
}

// recordAll records the passages that are not on record yet, final or not. Call it when
// nothing is under way.
func (b *bookkeeping) recordAll(record *history.Writer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settle(record, func(watched) bool { return true })
}

// suspicious is [Sender.Suspicious].
func (b *bookkeeping) suspicious() (left time.Time, broke bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.watched {
		b.leave(w)
	}
	return b.left, b.broke
}

// tell notes how a request of an intent was answered. It is called with mu held.
func (b *bookkeeping) tell(intent string, status int) {
	if b.told == nil {
		b.told = map[string]told{}
	}
	b.told[intent] = b.told[intent].add(status)
}

// refused reports that all requests of an intent so far were refused, which its client need not have been told.
func (b *bookkeeping) refused(intent string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.told[intent]
	for _, w := range b.watched {
		if w.intent == intent {
			all = all.add(w.tap.Facts().Status)
		}
	}
	return all.refused && !all.otherwise
}

// leave notes when the client of an attempt left, if its end was not seen. It is called with mu held.
func (b *bookkeeping) leave(w watched) {
	if w.ended.After(b.left) && leftBehind(w) {
		b.left = w.ended
	}
}

// settle records the passages that are final and forgets them. It is called with mu held.
func (b *bookkeeping) settle(record *history.Writer, final func(watched) bool) error {
	var failed error
	b.watched = slices.DeleteFunc(b.watched, func(w watched) bool {
		if failed != nil || !final(w) {
			return false
		}
		b.leave(w)
		facts := w.tap.Facts()
		b.tell(w.intent, facts.Status)
		failed = record.Passage(w.attempt, facts)
		return failed == nil
	})
	return failed
}

// leftBehind reports that the end of a request was not seen, or that it is not known whether there was one.
func leftBehind(w watched) bool {
	p := w.tap.Facts()
	return p.Arrived != 0 && p.Answered == 0 || p.Opened == 0 && !w.complete
}
