// Package cmd is doubletap's command line: it wires the rooms together and holds no judgement of its
// own.
package cmd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// Exit codes, on which a CI gate may rely.
const (
	exitPass         = 0
	exitFinding      = 1
	exitInconclusive = 2
	exitMistake      = 3 // in the command line or a file
	exitSurroundings = 4 // target or database unreachable, disk full, or doubletap itself
	exitMended       = 5 // a bug of the register was not seen any more
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

// codeOf returns the exit code for an error. What nobody marked is a mistake in the command line, of
// which cobra complains.
func codeOf(err error) int {
	var e exit
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &e):
		return e.code
	default:
		return exitMistake
	}
}

// streams are what a command talks to.
type streams struct {
	in     io.Reader // questions are answered there if it is a terminal; nil: nobody answers
	out    io.Writer
	err    io.Writer
	getenv func(string) (string, bool)
	report func(checker.Report) // gets the report of a run as well; nil: nobody asks
	given  given

	program string // the path of doubletap itself; empty: it is part of another program
}

// Main runs the command line of this process and returns its exit code. A signal ends it early; a
// second one ends the process.
func Main() int {
	// A reader that has seen enough, such as head, must not kill a run before it has tidied up. A signal that is
	// ignored would be so in what is started, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	orders.Quiet()
	ctx, stop := interruptible()
	defer stop()
	program, _ := os.Executable() // without it, served targets cannot be started
	return execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv, program: program})
}

// Call is a command line "doubletap run ARG..." of another program.
type Call struct {
	Args            []string
	Out, Complaints io.Writer
	Getenv          func(string) (string, bool) // environment variables

	BaseURL string  // instead of the target file's; empty: that
	DB      *sql.DB // instead of the target file's database; nil: that
	Intents int     // of each scenario at most so many, and those that belong to them; 0: all
	Again   string  // the command that does the same again; empty: the command line
}

// Run runs a call. It returns the report, which is nil if nothing could be run, and the exit code. Several
// runs may go on at once.
func Run(ctx context.Context, c Call) (report *checker.Report, code int) {
	s := streams{
		out: c.Out, err: c.Complaints, getenv: c.Getenv, report: func(r checker.Report) { report = &r },
		given: given{baseURL: c.BaseURL, db: c.DB, intents: c.Intents, again: c.Again},
	}
	code = execute(ctx, append([]string{"run"}, c.Args...), s)
	return report, code
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

// interruption returns the exit code of a command that was stopped.
func interruption(ctx context.Context) (int, bool) {
	var by stopped
	switch {
	case ctx.Err() == nil:
		return 0, false
	case errors.As(context.Cause(ctx), &by) && by.signal == syscall.SIGTERM:
		return exitTerminated, true
	default:
		return exitInterrupted, true
	}
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
			err = surroundings(fmt.Errorf("a fault in doubletap itself: %v\n%s", crash, debug.Stack()))
		}
	}()
	root := newRoot(s)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// complain prints an error. Mistakes in files begin with their places, as editors expect them.
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
