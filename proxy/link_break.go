package proxy

import (
	"bytes"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// Strike is a break of a link that is to come. A link between target and database has no
// requests that could be counted, so moments are: the n-th turn from question to answer or
// back, or a question that says "commit" or carries the words of a write. This reads plain
// text in the protocols of PostgreSQL, MySQL and others alike, and understands none of
// them.
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

// passes notes that bytes are about to pass on a connection, and reports whether they may:
// the link may break at this moment. It is called before they are written. So "broken
// before the commit" is sure that the server never got it, and not likely.
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

// breaks is the strike that is due: it resets all open connections, and none is taken
// until the pause is over. It is called with the lock held, so that nothing passes in
// between.
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

// saysCommit reports that a question asks for a commit.
func saysCommit(question []byte) bool { return says(question, "commit") }

// saysBegin reports that a question begins a transaction.
func saysBegin(question []byte) bool {
	return says(question, "begin") || says(question, "start transaction")
}

// says looks for words at the beginning of a question, in either case.
func says(question []byte, words string) bool {
	return bytes.Contains(bytes.ToLower(question[:min(len(question), mostOfACommit)]), []byte(words))
}
