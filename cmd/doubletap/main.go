// Command doubletap finds out whether an API that creates things creates each of them exactly once when the same request
// arrives more than once.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/internal/crashcode"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // a target's database is opened by their names
)

func main() {
	crashcode.Set() // or the runtime's own end would read as inconclusive
	os.Exit(mainCode())
}

// mainCode runs the command line of this process and returns its exit code. A signal ends it early; a
// second one ends the process.
func mainCode() int {
	// A reader that has seen enough, such as head, must not kill a run before it has tidied up. A signal that is
	// ignored would be ignored in what is started, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := interruptible()
	defer stop()
	program, _ := os.Executable() // without it, served targets cannot be started
	return execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv, listed: os.Environ, program: program})
}

// interruptible returns a context that ends with the first signal. A second one ends the process. Who ignores SIGHUP, as
// nohup does, wants the run to go on when the terminal is closed.
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
			signal.Stop(signals)
			cancel(stopped{s})
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

// attempt runs a command line. A crash of it is an error like others, so that what it has begun is tidied up.
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
