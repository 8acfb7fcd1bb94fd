package main

import (
	"io"
	"os"

	"github.com/doubletap-harness/doubletap/reports"
)

// streams are what a command talks to.
type streams struct {
	in     io.Reader // questions are answered there if it is a terminal; nil: there is no answer
	out    io.Writer
	err    io.Writer
	getenv func(string) (string, bool)

	program string // the path of doubletap itself
}

// env is the value of an environment variable; empty: it is not set.
func (s streams) env(name string) string {
	value, _ := s.getenv(name)
	return value
}

// styleOf is how reports are shown on the standard output.
func styleOf(s streams) reports.Style {
	file, ok := s.out.(*os.File)
	if !ok {
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
