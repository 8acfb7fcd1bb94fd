// Command hostile gives doubletap bad days: files that are none, signals, machines without room, answers, databases and findings
// of enemies. Each day says how the command must end; and on every day it ends in time, in bounded memory, without a crash, with
// nothing left behind, and without having done what an enemy's text asks for. It writes the days as a table.
//
// The parts: day.go plays a day and looks at what every day must leave intact. The other files have the days, each
// those of one kind, and shop.go and talker.go the services that they are played against.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// main plays the days, or is the service of one: a day starts this program once more.
func main() {
	if len(os.Args) == 3 && os.Args[1] == "talker" {
		fmt.Fprintln(os.Stderr, talker(os.Args[2], os.Getenv("STAGE")))
		os.Exit(1)
	}
	log.SetOutput(io.Discard) // Go's test server complains of clients that left
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	bad, err := hostile(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	case bad > 0:
		os.Exit(1)
	}
}

// hostile plays the days and returns how many went wrong.
func hostile(ctx context.Context, args []string, out io.Writer) (bad int, err error) {
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	command := flags.String("doubletap", "bin/doubletap", "the command that has the bad days")
	page := flags.String("o", "", "page to write")
	parallel := flags.Int("parallel", 6, "days at a time")
	only := flags.String("only", "", "regular expression: the days to play, by class and name")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return 0, err
	}
	binary, err := filepath.Abs(*command)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	source, err := recordFinding(ctx, binary, filepath.Join(dir, "finding"))
	if err != nil {
		return 0, err
	}
	days := slices.DeleteFunc(everyDay(), func(d day) bool { return !chosen.MatchString(d.class + ": " + d.name) })
	began := time.Now()
	ends := playAll(ctx, days, *parallel, func(i int) *bench {
		return &bench{binary: binary, finding: source, dir: filepath.Join(dir, fmt.Sprintf("day-%03d", i+1))}
	}, out)
	for _, e := range ends {
		if len(e.wrong) > 0 {
			bad++
		}
	}
	fmt.Fprintf(out, "%d days, %d went wrong, %s\n", len(days), bad, time.Since(began).Round(time.Second))
	if *page != "" && ctx.Err() == nil {
		err = os.WriteFile(*page, []byte(pageOf(days, ends, time.Since(began))), 0o644)
	}
	return bad, errors.Join(err, ctx.Err())
}

// everyDay lists all days.
func everyDay() []day {
	days := slices.Concat(daysOfFiles(), daysOfSignals(), daysOfMachines(), daysOfDisks(), daysOfAnswers(), daysOfDatabases(), daysOfProxies(), daysOfFindings(), daysOfCatalogues(), daysOfListings(), daysOfSinks(), daysOfHangs(), daysOfDocuments())
	slices.SortStableFunc(days, func(a, b day) int { return cmp.Or(strings.Compare(a.class, b.class), strings.Compare(a.name, b.name)) })
	return days
}

// playAll plays days, several at a time, and tells of each that went wrong.
func playAll(ctx context.Context, days []day, parallel int, benchOf func(int) *bench, out io.Writer) []end {
	ends := make([]end, len(days))
	var group sync.WaitGroup
	var printing sync.Mutex
	free := make(chan struct{}, parallel)
	for i, d := range days {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-free }()
			ends[i] = d.play(ctx, benchOf(i))
			if len(ends[i].wrong) > 0 {
				printing.Lock()
				defer printing.Unlock()
				fmt.Fprintf(out, "WRONG %s: %s\n  %s\n", d.class, d.name, strings.Join(ends[i].wrong, "\n  "))
			}
		})
	}
	group.Wait()
	return ends
}

// pageOf is the page about the days: a line for each class, and a table of all.
func pageOf(days []day, ends []end, took time.Duration) string {
	var b strings.Builder
	wrong := 0
	for _, e := range ends {
		wrong += min(len(e.wrong), 1)
	}
	fmt.Fprintf(&b, `# Bad days

`+"`make hostile`"+` gives the built command %d bad days and writes this page: %d went wrong, in %s. Days of signals send them at a
phase of the run that was seen, and not after a sleep. Services of the class "hangs" go on running in the middle of a run of 400 intents,
and are of no use any more: the run ends and says so, and its history can be judged again. On every day the command must also

- end within %s, and never by a crash of its own;
- stay below %d MiB of memory;
- leave no process and no temporary file behind (after `+"`kill -9`"+`: nothing once `+"`doubletap clean`"+` was run);
- print no control character and no workflow command of others;
- not do what a text of others asks for: a file with a name that these texts have must not appear.

An exit code of 1 says finding, 2 inconclusive, 3 a mistake in a file, 4 the surroundings; a pass would be 0.

| Class | Day | Exit code expected | Got | Took |
|---|---|---|---|---|
`, len(days), wrong, took.Round(time.Second), longestDay, mostMemory>>20)
	for i, d := range days {
		got := fmt.Sprint(ends[i].code)
		if len(ends[i].wrong) > 0 {
			got += ", **wrong**: " + strings.ReplaceAll(strings.Join(ends[i].wrong, "; "), "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.class, d.name, d.codes(), got, ends[i].took.Round(100*time.Millisecond))
	}
	return b.String()
}
