// Command doubletap finds out whether an API that creates things creates them exactly once when the
// same wish arrives more than once. It wires the rooms together and holds no judgement of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, on which a CI gate may rely.
const (
	exitPass         = 0
	exitFinding      = 1
	exitInconclusive = 2
	exitMistake      = 3 // in the command line or a file
	exitSurroundings = 4 // target or database unreachable, disk full, or doubletap itself
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

// mistake marks an error as the user's to mend.
func mistake(err error) error { return exit{exitMistake, err} }

// mistakef makes such an error.
func mistakef(format string, args ...any) error { return mistake(fmt.Errorf(format, args...)) }

// surroundings marks an error as none of the target's doing.
func surroundings(err error) error { return exit{exitSurroundings, err} }

// streams are what a command talks to.
type streams struct {
	out    io.Writer
	err    io.Writer
	getenv func(string) (string, bool)
}

func main() {
	ctx, stop := interruptible()
	code := execute(ctx, os.Args[1:], streams{out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv})
	stop()
	os.Exit(code)
}

// stopped is why a context ended: a signal.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string { return fmt.Sprintf("stopped by a signal (%s)", s.signal) }

// interruptible returns a context that ends with the first signal. A second one ends the process.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(stopped{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// execute runs one command line and returns its exit code. It alone prints errors.
func execute(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitPass
	}
	var e exit
	if !errors.As(err, &e) {
		e = exit{exitMistake, err}
	}
	if e.cause != nil {
		fmt.Fprintf(s.err, "doubletap: %v\n", e.cause)
	}
	return e.code
}
