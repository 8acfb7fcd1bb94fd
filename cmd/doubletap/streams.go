package main

import (
	"io"
	"os"
	"sync"

	"github.com/doubletap-harness/doubletap/reports"
)

// streams are what a command talks to. Out and err are for people: nothing that a target, a file or a database says is obeyed by
// a terminal or a CI server there.
type streams struct {
	in     io.Reader // questions are answered there if it is a terminal; nil: there is no answer
	out    io.Writer
	err    io.Writer
	bytes  io.Writer // out as it is, for what programs read
	plan   bool      // what a dry run would send is told there, as JSON
	getenv func(string) (string, bool)
	listed func() []string // the whole environment, as NAME=value; nil: not for this program to see

	program string // the path of doubletap itself
	github  *github
}

// guarded puts a writer before each stream of text that escapes what terminals and CI servers obey.
func (s streams) guarded() streams {
	s.bytes = s.out
	s.out = &screen{to: s.out, safe: reports.NewSafeWriter(s.out, styleOf(s).Color)}
	s.err = &screen{to: s.err, safe: reports.NewSafeWriter(s.err, false)}
	s.github = &github{streams: s}
	return s
}

// quiet shows people nothing.
func (s streams) quiet() streams {
	s.out, s.github = io.Discard, &github{}
	return s
}

// screen is a stream for people. Safe for concurrent use.
type screen struct {
	mu   sync.Mutex
	to   io.Writer
	safe *reports.SafeWriter
}

// Write writes a text with what a terminal or a CI server would obey escaped.
func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.safe.Write(text)
}

// fileOf is the file behind a stream, which may be a terminal; nil: there is none.
func fileOf(stream any) *os.File {
	if s, guarded := stream.(*screen); guarded {
		stream = s.to
	}
	file, _ := stream.(*os.File)
	return file
}

// env is the value of an environment variable; empty: it is not set.
func (s streams) env(name string) string {
	value, _ := s.getenv(name)
	return value
}

// styleOf is how reports are shown on the standard output.
func styleOf(s streams) reports.Style {
	file := fileOf(s.out)
	if file == nil {
		return reports.Style{}
	}
	return reports.StyleFor(file, s.env)
}

// checkout is the root of the repository that a CI server has checked out, or where we are.
func checkout(s streams) string {
	for _, name := range []string{"GITHUB_WORKSPACE", "CI_PROJECT_DIR"} {
		if root := s.env(name); root != "" {
			return root
		}
	}
	return "."
}
