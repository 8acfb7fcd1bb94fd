// Command doubletap finds out whether an API that creates things creates each of them exactly once when the same request
// arrives more than once.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // a target's database is opened by their names
	"github.com/doubletap-harness/doubletap/targets/orders"
)

func main() { os.Exit(run()) }

// run runs the command line of this process and returns its exit code. A signal ends it early; a
// second one ends the process.
func run() int {
	// A reader that has seen enough, such as head, must not kill a run before it has tidied up. A signal that is
	// ignored would be ignored in what is started, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	orders.Quiet()
	ctx, stop := interruptible()
	defer stop()
	program, _ := os.Executable() // without it, served targets cannot be started
	return execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv, program: program})
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
