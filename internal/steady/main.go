// Command steady runs the project's tests several times, every second time beside busy processes, and
// says in a table which runs were red, by which tests, and where the time went. It is how one knows that the tests
// are green on a busy machine as well.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// main runs the tests, or is one of the busy processes beside them.
func main() {
	if len(os.Args) == 2 && os.Args[1] == busyArgument {
		spin()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := steady(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "steady:", err)
		stop()
		os.Exit(2)
	}
	stop()
	os.Exit(code)
}

// options say what is run, and how often.
type options struct {
	runs    int
	load    int           // busy processes beside every second run
	timeout time.Duration // after which a run counts as red, and is ended
	logs    string        // a directory for the output of each run; empty: none is kept
	command []string
}

// steady runs the command and prints a line for each run. The code is 1 if one of them was red.
func steady(ctx context.Context, args []string, out io.Writer) (code int, err error) {
	o, err := parse(args)
	if err != nil {
		return 0, err
	}
	fmt.Fprint(out, heading)
	for n := 1; n <= o.runs && ctx.Err() == nil; n++ {
		load := 0
		if n%2 == 0 {
			load = o.load
		}
		r, err := o.run(ctx, n, load)
		if err != nil {
			return 0, err
		}
		fmt.Fprint(out, r.line(n, load))
		if !r.green() {
			code = 1
		}
	}
	return code, ctx.Err()
}

// parse reads the arguments, and makes the directory for the logs.
func parse(args []string) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("steady", flag.ContinueOnError)
	flags.IntVar(&o.runs, "n", 10, "how many runs")
	flags.IntVar(&o.load, "load", 8, "how many busy processes stand beside every second run")
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "ends a run")
	flags.StringVar(&o.logs, "logs", "", "directory for the output of each run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.command = flags.Args(); len(o.command) == 0 {
		return o, fmt.Errorf("name the command to run, one that prints the events of go test -json")
	}
	if o.logs != "" {
		return o, os.MkdirAll(o.logs, 0o755)
	}
	return o, nil
}

// run runs the command once beside so many busy processes, which end with it. The command has a process group of its
// own, so that what the tests started ends with it.
func (o options) run(ctx context.Context, n, load int) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	idle, err := keepBusy(load)
	if err != nil {
		return outcome{}, err
	}
	defer idle()
	log, err := o.log(n)
	if err != nil {
		return outcome{}, err
	}
	defer log.Close()
	begun := time.Now()
	read, write := io.Pipe()
	command := exec.Command(o.command[0], o.command[1:]...)
	command.Stdout, command.Stderr = write, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.WaitDelay = time.Minute // for what it has left behind with its output open
	if err := command.Start(); err != nil {
		return outcome{}, fmt.Errorf("run %s: %w", o.command[0], err)
	}
	unbounded := context.AfterFunc(ctx, func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGTERM) })
	defer unbounded()
	ended := make(chan error, 1)
	go func() {
		ended <- command.Wait()
		write.Close()
	}()
	r := readEvents(io.TeeReader(read, log))
	_, _ = io.Copy(io.Discard, read) // so that the command never waits for its reader
	r.failed, r.took = <-ended, time.Since(begun)
	return r, nil
}

// log opens the file for the output of a run, or one that keeps nothing.
func (o options) log(n int) (*os.File, error) {
	name := os.DevNull
	if o.logs != "" {
		name = fmt.Sprintf("%s/run-%02d.json", o.logs, n)
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("open the log of a run: %w", err)
	}
	return file, nil
}
