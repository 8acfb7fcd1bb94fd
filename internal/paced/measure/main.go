// Command measure plays the scenarios whose moments depend on the speed of a target against internal/paced at several
// speeds, with many seeds, alone and beside busy processes, and writes a table of how often the verdict was pass.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// scenarios are those whose moments are shares of a create.
const scenarios = "crash-between crash-sweep cut-reset-early-retry cut-truncated-early-retry withheld-answer-early-retry impatient-retry " +
	"double-click enter-plus-click rage-clicks hang-up slow-database slow-database-impatient sweep database-cut plain-create"

// targetFile has the target, with two places: the program and how long the work takes.
const targetFile = `name: paced
base_url: http://127.0.0.1:0
database: {ephemeral: postgres}
process: {command: [%q, -listen, "127.0.0.1:{{.Port}}", -database, "{{.Database.URL}}", -work, %q], ready: {path: /ready}}
contract: {preset: ietf, in_progress: {mode: wait}}
operations:
  create_order:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}", amount: 1200}}
    key: {in: header, required: true}
    alter: {amount: 9900}
    identity: /id
    rows: {query: "select id, amount from orders where note = :marker", identity: id, content: {amount: /amount}}
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		stop()
		os.Exit(1)
	}
}

// options say what is played, and how often.
type options struct {
	doubletap, paced, work, output string
	runs, load, parallel           int
}

// measure plays one column after the other, and writes the page when all are done.
func measure(ctx context.Context) error {
	var o options
	flag.StringVar(&o.doubletap, "doubletap", "bin/doubletap", "the command")
	flag.StringVar(&o.paced, "paced", "bin/paced", "the service")
	flag.StringVar(&o.work, "work", "0s,1ms,30ms,300ms", "how long the work of a create takes")
	flag.StringVar(&o.output, "o", "docs/paced.md", "file to write")
	flag.IntVar(&o.runs, "runs", 20, "seeds, from 1")
	flag.IntVar(&o.load, "load", 8, "busy processes beside every second column; 0: there is no such column")
	flag.IntVar(&o.parallel, "parallel", 2, "runs at once")
	flag.Parse()
	var err error
	if o.doubletap, err = filepath.Abs(o.doubletap); err != nil {
		return err
	}
	if o.paced, err = filepath.Abs(o.paced); err != nil {
		return err
	}
	columns := []int{0}
	if o.load > 0 {
		columns = append(columns, o.load)
	}
	var table strings.Builder
	for _, work := range strings.Split(o.work, ",") {
		fmt.Fprintf(&table, "| `%s` |", work)
		for _, load := range columns {
			cell, err := o.column(ctx, work, load)
			if err != nil {
				return err
			}
			fmt.Printf("%s, %d busy processes: %s\n", work, load, cell)
			fmt.Fprintf(&table, " %s |", cell)
		}
		table.WriteByte('\n')
	}
	return os.WriteFile(o.output, []byte(o.page(columns)+table.String()), 0o644)
}

// page is what stands above the table's rows.
func (o options) page(columns []int) string {
	head := "# Fast and slow targets\n\n`make paced` makes this page. `internal/paced` is a correct service on PostgreSQL whose creates take as long as one\n" +
		"wants; `0s` is one statement. doubletap starts it, and plays " + fmt.Sprint(len(strings.Fields(scenarios))) + " scenarios whose moments depend on the speed of the target,\n" +
		fmt.Sprintf("%d runs at once on 2 cores. A cell says how many runs ended with exit 0, each with another seed, and which scenarios of\nthe others did not pass.\n\n| work |", o.parallel)
	rule := "|---|"
	for _, load := range columns {
		if load == 0 {
			head += " nothing beside |"
		} else {
			head += fmt.Sprintf(" beside %d busy processes |", load)
		}
		rule += "---|"
	}
	return head + "\n" + rule + "\n"
}

// column plays all seeds at one speed, beside so many busy processes.
func (o options) column(ctx context.Context, work string, load int) (string, error) {
	busy, end := context.WithCancel(ctx)
	defer end()
	for range load {
		c := exec.CommandContext(busy, "sh", "-c", "while :; do :; done")
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			return "", err
		}
		defer c.Wait()
	}
	defer end()
	dir, err := os.MkdirTemp("", "doubletap-paced-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	target := filepath.Join(dir, "paced.yaml")
	if err := os.WriteFile(target, fmt.Appendf(nil, targetFile, o.paced, work), 0o600); err != nil {
		return "", err
	}
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		passed int
		others = map[string]int{}
		slots  = make(chan struct{}, o.parallel)
	)
	for seed := 1; seed <= o.runs; seed++ {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			code, not := o.play(ctx, target, filepath.Join(dir, fmt.Sprint(seed)), seed)
			mu.Lock()
			defer mu.Unlock()
			if code == 0 {
				passed++
			}
			for _, name := range not {
				others[name]++
			}
		})
	}
	all.Wait()
	cell := fmt.Sprintf("%d of %d", passed, o.runs)
	for _, name := range slices.Sorted(maps.Keys(others)) {
		cell += fmt.Sprintf("; %s: %d", name, others[name])
	}
	return cell, ctx.Err()
}

// play plays one run. It returns its exit code, and the scenarios that did not pass, with their verdicts.
func (o options) play(ctx context.Context, target, reports string, seed int) (code int, not []string) {
	args := append([]string{"run"}, strings.Fields(scenarios)...)
	c := exec.CommandContext(ctx, o.doubletap, append(args, "--target", target, "--seed", fmt.Sprint(seed), "--reports", reports)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	_ = c.Run() // its exit code tells
	code = c.ProcessState.ExitCode()
	found, _ := filepath.Glob(filepath.Join(reports, "*", "report.json"))
	if len(found) != 1 {
		return code, []string{fmt.Sprintf("no report, exit %d", code)}
	}
	var report struct {
		Results []struct{ Scenario, Verdict string }
	}
	text, err := os.ReadFile(found[0])
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		return code, []string{err.Error()}
	}
	for _, r := range report.Results {
		if r.Verdict != "pass" {
			not = append(not, r.Scenario+" "+r.Verdict)
		}
	}
	return code, not
}
