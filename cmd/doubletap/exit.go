package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
)

// Exit codes, on which a CI gate may rely.
const (
	exitPass         = 0
	exitFinding      = 1
	exitInconclusive = 2
	exitConfig       = 3 // a mistake in the command line or a file
	exitEnvironment  = 4 // target or database unreachable, disk full, or doubletap itself
	exitFixed        = 5 // a bug of the register was not seen any more
	exitInterrupted  = 130
	exitTerminated   = 143
)

// exit is an error that decides the exit code. A nil cause prints nothing.
type exit struct {
	code  int
	cause error
}

func (e exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

func (e exit) Unwrap() error { return e.cause }

// codeOf returns the exit code for an error. One that is not known to be the user's mistake is the environment's.
func codeOf(err error) int {
	var e exit
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &e):
		return e.code
	case runerror.IsConfig(err):
		return exitConfig
	default:
		return exitEnvironment
	}
}

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

// execute runs one command line and returns its exit code. Whatever fails after a signal failed
// because of it.
func execute(ctx context.Context, args []string, s streams) int {
	err := attempt(ctx, args, s)
	complain(s.err, err)
	if code, interrupted := interruption(ctx); interrupted && err != nil {
		return code
	}
	return codeOf(err)
}

// attempt runs a command line. A crash must not end with Go's exit code for it, which is 2 and would
// read as inconclusive.
func attempt(ctx context.Context, args []string, s streams) (err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = runerror.Environment(fmt.Errorf("a fault in doubletap itself: %v\n%s", crash, debug.Stack()))
		}
	}()
	root, begun := newRoot(s), false
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	root.SetArgs(args)
	if err = root.ExecuteContext(ctx); !begun { // what fails before a command begins is cobra's word on the command line
		return runerror.Config(err)
	}
	return err
}

// complain prints an error, which may repeat what a target said. Mistakes in files begin with their places, as editors
// expect them.
func complain(to io.Writer, err error) {
	to = reports.NewSafeWriter(to, false)
	var e exit
	var places document.Mistakes
	switch {
	case err == nil, errors.As(err, &e) && e.cause == nil:
	case errors.As(err, &places):
		fmt.Fprintln(to, err)
	default:
		fmt.Fprintf(to, "doubletap: %v\n", err)
	}
}
