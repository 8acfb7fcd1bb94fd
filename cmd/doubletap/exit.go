package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// Exit codes, on which a CI gate may rely.
const (
	exitPass         = 0
	exitFinding      = 1
	exitInconclusive = 2
	exitConfig       = 3   // a mistake in the command line or a file
	exitEnvironment  = 4   // target or database unreachable, disk full, or doubletap itself
	exitFixed        = 5   // a bug of the register was not seen any more
	exitHungUp       = 129 // SIGHUP: the terminal was closed
	exitInterrupted  = 130
	exitQuit         = 131 // SIGQUIT
	exitTerminated   = 143
)

// exit is an error that decides the exit code. A nil cause prints nothing.
type exit struct {
	code  int
	cause error
}

// Error is the text of the cause. Without one there is nothing to print, but an error has to have
// a text.
func (e exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

// Unwrap lets callers find the cause.
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
	case runerror.IsLimited(err):
		return exitInconclusive
	default:
		return exitEnvironment
	}
}

// complain prints an error, which may repeat what a target said, to a stream for people. Mistakes in files begin with their places, as editors
// expect them.
func complain(to io.Writer, err error) {
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

// stopped is why a context ended: a signal.
type stopped struct{ signal os.Signal }

// Error names the signal: reports say why a run ended early.
func (s stopped) Error() string { return fmt.Sprintf("stopped by a signal (%s)", s.signal) }

// interruption returns the exit code of a command that was stopped: 128 and the number of the
// signal, as shells have it. False means that it was not stopped.
func interruption(ctx context.Context) (int, bool) {
	var by stopped
	if ctx.Err() == nil {
		return 0, false
	}
	if !errors.As(context.Cause(ctx), &by) {
		return exitInterrupted, true
	}
	switch by.signal {
	case syscall.SIGHUP:
		return exitHungUp, true
	case syscall.SIGQUIT:
		return exitQuit, true
	case syscall.SIGTERM:
		return exitTerminated, true
	default:
		return exitInterrupted, true
	}
}
