// Command bench measures doubletap beside other senders, on one machine and in one run: how close
// together the requests of a burst arrive, how often that makes a racy server duplicate, and what the
// driver and the lanes cost. It sends to loopback alone.
//
// The parts: senders.go and processes.go have the senders, routes.go the lanes, server.go and apart.go the
// targets. cells.go measures bursts, throughput.go and memory.go the rest; targets.go holds what came of it
// against the aims, and report.go and tables.go write it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings is what one run of the benchmark needs.
type settings struct {
	members  []int
	lanes    []laneKind
	parts    []string
	without  []string // senders to leave out
	bursts   int      // of each sender in each cell
	attempts int      // of each sender in each turn of the throughput
	turns    int      // of the throughput
	soak     time.Duration
	out      string // Markdown file; empty: none
	apart    bool   // the target of the bursts is a process of its own
	scratch  string // folder that is removed at the end
}

// The parts of a run.
const (
	partBursts     = "bursts"
	partChecks     = "checks"
	partHidden     = "hidden"
	partThroughput = "throughput"
	partMemory     = "memory"
	partLanes      = "lanes"
)

func parts() []string {
	return []string{partBursts, partChecks, partHidden, partThroughput, partMemory, partLanes}
}

// seldom is how much the heap may grow between two collections, in percent: as in the command.
const seldom = 300

func main() {
	debug.SetGCPercent(seldom)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// command measures what the arguments ask for and writes it to out, and to a file if one is named.
// A process that is only to serve as a target does that.
func command(ctx context.Context, args []string, out, progress io.Writer) error {
	if slices.Equal(args, []string{serveWord}) {
		return serveApart(os.Stdin, out)
	}
	s, err := parse(args, progress)
	if err != nil {
		return err
	}
	if s.scratch, err = os.MkdirTemp("", "doubletap-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(s.scratch)
	r, err := measure(ctx, s, progress)
	if err != nil {
		return err
	}
	r.command = strings.Join(append([]string{"go run ./internal/bench"}, args...), " ")
	d := r.document()
	d.write(out)
	if s.out == "" {
		return nil
	}
	return os.WriteFile(s.out, []byte(d.markdown()), 0o644)
}

// parse reads the arguments.
func parse(args []string, help io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(help)
	members := flags.String("members", "2,5,10,20,50,100", "requests in a burst, each a column of cells")
	lanes := flags.String("lanes", "clean,latency,jitter", "the lanes to send on")
	only := flags.String("parts", strings.Join(parts(), ","), "what to measure")
	without := flags.String("without", "", "senders to leave out, such as k6,hey")
	flags.IntVar(&s.bursts, "bursts", 300, "bursts of each sender in each cell")
	flags.IntVar(&s.attempts, "attempts", 2000, "requests of each sender in each turn of the throughput")
	flags.IntVar(&s.turns, "turns", 9, "turns of the throughput")
	flags.DurationVar(&s.soak, "soak", time.Minute, "how long memory is watched")
	flags.BoolVar(&s.apart, "apart", false, "let the target of the bursts be a process of its own, as real ones are")
	flags.StringVar(&s.out, "o", "", "write the tables to this Markdown `file` too")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("read the arguments: %q is none", flags.Arg(0))
	}
	if min(s.bursts, s.attempts, s.turns) < 1 || s.soak <= 0 {
		return s, errors.New("read the flags: -bursts, -attempts, -turns and -soak must be above 0")
	}
	var errs [4]error
	s.members, errs[0] = counts(*members)
	s.lanes, errs[1] = lanesNamed(*lanes)
	s.parts, errs[2] = among("parts", *only, parts())
	s.without, errs[3] = among("without", *without, append(others(), oursTwo))
	return s, errors.Join(errs[:]...)
}

// counts reads the numbers of members.
func counts(text string) ([]int, error) {
	const least, most = 2, 1000
	var all []int
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("read -members: %q is no number from %d to %d", word, least, most)
		}
		all = append(all, n)
	}
	return all, nil
}

// among splits a list and holds that every word is known.
func among(flag, text string, known []string) ([]string, error) {
	words := strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
	for _, word := range words {
		if !slices.Contains(known, word) {
			return nil, fmt.Errorf("read -%s: there is no %q, only %s", flag, word, strings.Join(known, ", "))
		}
	}
	return words, nil
}

// has reports that a part is wanted.
func (s settings) has(part string) bool { return slices.Contains(s.parts, part) }

// measure runs the parts that are wanted, one after the other.
func measure(ctx context.Context, s settings, progress io.Writer) (*results, error) {
	began := time.Now()
	senders, err := sendersFor(ctx, s, progress)
	if err != nil {
		return nil, err
	}
	r := &results{settings: s, began: began, senders: namesOf(senders)}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{partBursts, func() (err error) { r.cells, err = measureCells(ctx, s, senders, progress); return }},
		{partChecks, func() (err error) { r.checks, err = measureChecks(ctx, s, senders); return }},
		{partHidden, func() (err error) { r.hidden, err = measureHidden(ctx, s, senders); return }},
		{partThroughput, func() (err error) { r.rates, err = measureThroughput(ctx, s); return }},
		{partMemory, func() (err error) { r.memory, err = measureMemory(ctx, s); return }},
		{partLanes, func() (err error) { r.lanes, err = measureLanes(ctx); return }},
	} {
		if !s.has(part.name) {
			continue
		}
		fmt.Fprintf(progress, "%6s %s\n", time.Since(began).Round(time.Second), part.name)
		if err := part.run(); err != nil {
			return nil, fmt.Errorf("measure %s: %w", part.name, err)
		}
	}
	r.took = time.Since(began)
	return r, nil
}
