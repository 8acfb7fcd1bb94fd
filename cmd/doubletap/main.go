// Command doubletap finds out whether an API that creates things creates each of them exactly once
// when the same request arrives more than once.
//
// Each subcommand is a file of its name: it has the help, the flags and what is printed. The work
// is done by other rooms (engine, rundir, shrink, export, learn, work), which print nothing and
// know no exit codes.
//
// Shared by the subcommands: root.go builds the tree of commands, flags.go has what names a target
// and what all sending commands take, streams.go guards what reaches a terminal or a CI server,
// gate.go and exit.go turn reports and errors into exit codes, terminal.go and github.go observe
// the events of a run, and rerun.go writes the command that does a run once more.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/internal/crashcode"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // a target's database is opened by their names
)

// main is short, so that what is deferred in mainCode has run before the process exits.
func main() {
	crashcode.Set() // or the runtime's own end would read as inconclusive
	os.Exit(mainCode())
}

// seldom is by how much what is in memory has to grow before it is collected, in percent of what was left by the last time.
const seldom = 300

// mainCode runs the command line of this process and returns its exit code. A signal ends it early; a
// second one ends the process.
func mainCode() int {
	if os.Getenv("GOGC") == "" {
		// What is in memory is little, and is made anew all the time: a burst that comes while it is collected comes apart, and a
		// quarter of what judging takes goes into that (docs/large.md).
		debug.SetGCPercent(seldom)
	}
	// A reader that has seen enough, such as head, must not kill a run before it has tidied up. A signal that is
	// ignored would be ignored in what is started, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := interruptible()
	defer stop()
	program, _ := os.Executable() // without it, served targets cannot be started
	return execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv, listed: os.Environ, program: program})
}

// oneSignal is how long a second signal is the same one. What wraps a command, such as timeout or npm, passes on to it the signal that
// its whole group has got as well.
const oneSignal = 300 * time.Millisecond

// interruptible returns a context that ends with the first signal. A second one, a moment later, ends the process,
// since signals are no longer caught then. SIGHUP is left alone where it is ignored: under nohup a
// run is to go on when the terminal is closed.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	signal.Notify(signals, ends...)
	go func() {
		select {
		case s := <-signals:
			cancel(stopped{s})
			time.Sleep(oneSignal)
			signal.Stop(signals)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// execute runs one command line and returns its exit code. Whatever fails after a signal failed
// because of it.
func execute(ctx context.Context, args []string, s streams) int {
	s = s.guarded()
	s.github.mute(args)
	defer s.github.unmute()
	err := attempt(ctx, args, s)
	complain(s.err, err)
	if code, interrupted := interruption(ctx); interrupted && err != nil {
		return code
	}
	return codeOf(err)
}

// attempt runs a command line. A panic becomes an error like others, so that what the command has
// begun is tidied up, and exits 4: it is not a mistake of the user.
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
