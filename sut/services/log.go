package services

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"sync"
)

const (
	tailLines   = 20       // of what a service printed, for messages
	keptLines   = 400      // of what it printed: a stack trace stands after its reason
	longestLine = 64 << 10 // in bytes; a longer one is passed on in pieces
)

// Log passes on what a service prints, line by line and without secrets, and keeps the last lines. Safe for
// concurrent use.
type Log struct {
	lock    sync.Mutex
	to      io.Writer
	secrets []string
	mask    *strings.Replacer
	line    []byte // that has not ended yet
	last    []string
	failure error
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

func (l *Log) pass(line string) {
	line = l.mask.Replace(line)
	if _, err := io.WriteString(l.to, line); err != nil {
		l.failure = cmp.Or(l.failure, err)
	}
	if text := strings.TrimRight(line, "\r\n"); strings.TrimSpace(text) != "" {
		l.last = append(l.last, text)
		l.last = l.last[max(0, len(l.last)-keptLines):]
	}
}

// Flush passes on a line that has not ended, and returns the first failure to write.
func (l *Log) Flush() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if len(l.line) > 0 {
		l.pass(string(l.line) + "\n")
		l.line = nil
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
