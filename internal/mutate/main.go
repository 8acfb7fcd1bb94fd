// Command mutate tests the tests of a package: it switches off one rule of the code after the other
// and holds that a test fails each time. The sources stay as they are.
//
// The parts: derive.go makes the mutants from the syntax of the code, try.go runs the tests on each by an overlay
// of the go command, and table.go says what became of them. equivalents.go lists mutants that no test can tell
// from the code, each with the reason.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// settings is what one run of the mutation test needs.
type settings struct {
	dir      string   // of the package
	args     []string // for go test
	only     *regexp.Regexp
	list     bool
	timeout  time.Duration // of the tests of one mutant
	excluded map[string]string
}

// main hands interrupts on, so that tests which run are ended and the scratch folder is removed.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	os.Exit(code)
}

// command returns 0 if every mutant was killed, 1 if one survived, 2 if nothing can be said.
func command(ctx context.Context, args []string, out, progress io.Writer) (int, error) {
	s := settings{excluded: equivalents()}
	flags := flag.NewFlagSet("mutate [flags] [directory [argument of go test...]]", flag.ContinueOnError)
	only := flags.String("only", "", "try only the mutants whose line of the table matches this `expression`")
	flags.BoolVar(&s.list, "list", false, "list the mutants and try none")
	flags.DurationVar(&s.timeout, "timeout", time.Minute, "for the tests of one mutant")
	flags.SetOutput(progress)
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return 2, fmt.Errorf("read -only: %w", err)
	}
	s.dir, s.args = "checker", checkerArgs()
	if flags.NArg() > 0 {
		s.dir, s.args = flags.Arg(0), flags.Args()[1:]
	}
	return mutate(ctx, s, out, progress)
}

// checkerArgs makes the properties of the checker try the same histories each time, and leave no
// files behind when they fail.
func checkerArgs() []string {
	return []string{"-short", "-failfast", "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms"}
}

// mutate derives the mutants, tries those that are wanted, and writes the table.
func mutate(ctx context.Context, s settings, out, progress io.Writer) (int, error) {
	all, err := derive(s.dir)
	if err != nil {
		return 2, err
	}
	var chosen []mutant
	for _, m := range all {
		if s.only.MatchString(m.String()) {
			chosen = append(chosen, m)
		}
	}
	if s.list {
		for _, m := range chosen {
			fmt.Fprintln(out, m)
		}
		return 0, nil
	}
	began := time.Now()
	fates, err := tryAll(ctx, s, chosen, progress)
	if err != nil {
		return 2, err
	}
	t := table{fates: fates, excluded: s.excluded, stale: stale(s.excluded, all)}
	t.write(out)
	fmt.Fprintf(out, "%s in %s\n", t.summary(), time.Since(began).Round(time.Second))
	if t.bad() {
		return 1, nil
	}
	return 0, nil
}
