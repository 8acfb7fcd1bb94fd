package services

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	tailLines   = 20       // of what a service printed, for messages
	keptLines   = 400      // of what it printed: a stack trace stands after its reason
	longestLine = 64 << 10 // in bytes; a longer one is passed on in pieces
)

// How long a line waits before it is passed on, and how much waits at most, in bytes. A service may print a token a moment before
// it is known to be one: whoever kills doubletap meanwhile finds no such line on the disk.
const (
	heldFor  = 15 * time.Second
	mostHeld = 4 << 20
)

// Log passes on what a service prints, line by line, a while later and without secrets, and keeps the last lines. Safe for
// concurrent use.
type Log struct {
	lock    sync.Mutex
	to      io.Writer
	secrets []string
	mask    *strings.Replacer
	line    []byte // that has not ended yet
	last    []string
	failure error

	recent      []printedLine // raw, oldest first
	recentBytes int

	learn func() []string // the secrets that are known now; nil: no more than were told
	held  []heldLine      // oldest first
	bytes int             // in held
	timer *time.Timer
}

// heldLine is a line that waits, as it was printed.
type heldLine struct {
	text string
	due  time.Time
}

// How much of what a service printed is kept with its moment, in bytes.
const mostRecent = 1 << 20

// printedLine is a line with the moment at which it came.
type printedLine struct {
	at   time.Time
	text string
}

// Printed is a line that a service printed, without secrets, and when it came.
type Printed struct {
	At   time.Time
	Text string
}

// Since returns the lines that came at or after a moment, the oldest first: of what was printed at last, 1 MiB at most.
func (l *Log) Since(moment time.Time) []Printed {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.ask()
	var lines []Printed
	for _, line := range l.recent {
		if !line.at.Before(moment) {
			lines = append(lines, Printed{line.at, l.mask.Replace(line.text)})
		}
	}
	return lines
}

// remember keeps a line with its moment.
func (l *Log) remember(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	l.recent, l.recentBytes = append(l.recent, printedLine{time.Now(), text}), l.recentBytes+len(text)
	for l.recentBytes > mostRecent {
		l.recentBytes -= len(l.recent[0].text)
		l.recent = l.recent[1:]
	}
}

// NewLog returns a log in which *** stands for each of the secrets.
func NewLog(to io.Writer, secrets []string) *Log {
	l := &Log{to: to}
	l.Hide(secrets...)
	return l
}

// Hide adds secrets that have come to be known. What was passed on already is for Mask.
func (l *Log) Hide(secrets ...string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.hide(secrets)
}

// Learn has the log ask for secrets before it passes lines on. Asking must be safe for concurrent use, and not print.
func (l *Log) Learn(known func() []string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.learn = known
}

// hide adds secrets, and hides them also in the last lines, which are kept. Longer ones come
// first: a secret may begin with another. The caller holds the lock.
func (l *Log) hide(secrets []string) {
	l.secrets = slices.DeleteFunc(append(l.secrets, secrets...), func(s string) bool { return s == "" })
	slices.SortFunc(l.secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	l.secrets = slices.Compact(l.secrets)
	var pairs []string
	for _, secret := range l.secrets {
		pairs = append(pairs, secret, "***")
	}
	l.mask = strings.NewReplacer(pairs...)
	for i, line := range l.last {
		l.last[i] = l.mask.Replace(line)
	}
}

// Mask returns a text with *** for each of the secrets.
func (l *Log) Mask(text string) string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.mask.Replace(text)
}

// Write never fails: a full disk is no reason to stop a service. Flush returns the error.
func (l *Log) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.line = append(l.line, text...)
	for {
		n := bytes.IndexByte(l.line, '\n')
		if n < 0 && len(l.line) < longestLine {
			return len(text), nil
		}
		if n < 0 {
			n = len(l.line) - 1
		}
		l.pass(string(l.line[:n+1]))
		l.line = l.line[n+1:]
	}
}

// pass keeps a line for a while before it is passed on: a secret in it may come to be known only
// afterwards. Where too much waits, the secrets that are known now have to do. The caller holds
// the lock.
func (l *Log) pass(line string) {
	l.remember(strings.TrimRight(line, "\r\n"))
	l.held = append(l.held, heldLine{line, time.Now().Add(heldFor)})
	l.bytes += len(line)
	if l.bytes > mostHeld {
		l.ask()
		for l.bytes > mostHeld/2 {
			l.release()
		}
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(heldFor, l.tick)
	}
	if text := strings.TrimRight(l.mask.Replace(line), "\r\n"); strings.TrimSpace(text) != "" {
		l.last = append(l.last, text)
		l.last = l.last[max(0, len(l.last)-keptLines):]
	}
}

// release passes on the oldest line that waits.
func (l *Log) release() {
	line := l.held[0].text
	l.held, l.bytes = l.held[1:], l.bytes-len(line)
	if _, err := io.WriteString(l.to, l.mask.Replace(line)); err != nil {
		l.failure = cmp.Or(l.failure, err)
	}
}

// ask hides what is known to be secret by now.
func (l *Log) ask() {
	if l.learn != nil {
		l.hide(l.learn())
	}
}

// tick passes on the lines that have waited long enough.
func (l *Log) tick() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.timer = nil
	l.ask()
	for len(l.held) > 0 && !time.Now().Before(l.held[0].due) {
		l.release()
	}
	if len(l.held) > 0 {
		l.timer = time.AfterFunc(max(time.Until(l.held[0].due), time.Second), l.tick)
	}
}

// Flush passes on all that waits, with a line that has not ended, and returns the first failure to write.
func (l *Log) Flush() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if len(l.line) > 0 {
		l.pass(string(l.line) + "\n")
		l.line = nil
	}
	for len(l.held) > 0 {
		l.release()
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	return l.failure
}

// Begin forgets the last lines: a new process begins to print.
func (l *Log) Begin() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.last = nil
}

// Last returns the last lines, at most so many.
func (l *Log) Last(most int) []string {
	l.lock.Lock()
	defer l.lock.Unlock()
	lines := slices.Clone(l.last)
	if rest := strings.TrimSpace(string(l.line)); rest != "" {
		lines = append(lines, l.mask.Replace(rest))
	}
	return lines[max(0, len(lines)-most):]
}

// String is the last lines, for the end of a message.
func (l *Log) String() string {
	lines := l.Last(tailLines)
	if len(lines) == 0 {
		return "; it printed nothing"
	}
	return "; the last that it printed:\n    " + strings.Join(lines, "\n    ")
}
