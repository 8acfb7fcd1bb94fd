package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// runOptions are the flags of run, and what replay sets in their place.
type runOptions struct {
	target       string
	database     string
	operation    string
	seed         uint64
	seeded       bool
	toxiproxy    string
	reports      string
	inconclusive string
	dryRun       bool
	maxRequests  int
	only         []int // numbers of the intents to send; nil: all
}

func newRun(s streams) *cobra.Command {
	o := runOptions{}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO|FILE|DIR ...]",
		Short: "Run scenarios against a target and judge what happened",
		Long: `Run sends every scenario to the target through toxiproxy, records what was on the wire, asks the
database and gives a verdict. Without arguments it runs the whole built-in library; a name picks a
built-in scenario, a path a file or all files of a folder. Without --target it starts a built-in
orders API on a SQLite file.`,
		Example: `  doubletap run
  doubletap run --target builtin:check-then-insert
  doubletap run --target builtin:unique-key --database postgres://me@localhost/test
  doubletap run --target orders.yaml --seed 7 burst-same-key my-scenarios/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seeded = cmd.Flags().Changed("seed")
			return runCommand(cmd.Context(), args, o, s)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.inconclusive, "inconclusive", "fail", "what an inconclusive verdict means to a gate: fail (exit 2) or warn (exit 0)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be sent where, and stop")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the plan; the same seed gives the same plan (default: random)")
	return cmd
}

// flags adds the flags that run and replay share.
func (o *runOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.target, "target", "", "target file, or builtin:NAME (default "+defaultTarget+")")
	f.StringVar(&o.database, "database", "", "database of a built-in target: a postgres or mariadb URL (default $"+databaseVariable+", else a SQLite file)")
	f.StringVar(&o.operation, "operation", "", "operation of the target (default: its first by name)")
	f.StringVar(&o.toxiproxy, "toxiproxy", "", "URL of a running toxiproxy server (default: in process)")
	f.StringVar(&o.reports, "reports", "reports/runs", "directory for the runs' files")
	f.IntVar(&o.maxRequests, "max-requests", 100_000, "refuse to send more requests than this")
}

func runCommand(ctx context.Context, args []string, o runOptions, s streams) error {
	if o.inconclusive != "fail" && o.inconclusive != "warn" {
		return mistakef("--inconclusive is %q, expected fail or warn", o.inconclusive)
	}
	files, err := findScenarios(args)
	if err != nil {
		return err
	}
	if o.target == "" {
		o.target = defaultTarget
	}
	o.seed = seedOf(o)
	report, err := perform(ctx, files, o, s)
	if err != nil || report == nil {
		return err
	}
	return verdictExit(ctx, report, o.inconclusive)
}

// perform runs scenarios against the target and writes the reports. A dry run has none.
func perform(ctx context.Context, files []scenarios.File, o runOptions, s streams) (report *checker.Report, err error) {
	sub, err := openSubject(ctx, o.target, o.database, o.operation, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	if err := sub.allow(o.toxiproxy); err != nil {
		return nil, err
	}
	r := newRunner(sub, files, o, s)
	if err := r.announce(); err != nil || o.dryRun {
		return nil, err
	}
	if err := sub.connect(ctx); err != nil {
		return nil, err
	}
	return r.run(ctx)
}

// seedOf returns the seed that was asked for, or a random one.
func seedOf(o runOptions) uint64 {
	if o.seeded {
		return o.seed
	}
	var b [4]byte // four bytes are enough to be different, and short enough to be typed
	rand.Read(b[:])
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// verdictExit turns a report into an exit code: a finding outranks a failing harness, which outranks
// an inconclusive verdict. An interrupted run says so whatever it found.
func verdictExit(ctx context.Context, r *checker.Report, inconclusive string) error {
	if code, interrupted := interruption(ctx); interrupted {
		return exit{code: code}
	}
	switch {
	case r.Verdict == checker.Fail:
		return exit{code: exitFinding}
	case r.Verdict == checker.Broken:
		return exit{code: exitSurroundings}
	case r.Verdict != checker.Pass && inconclusive == "fail":
		return exit{code: exitInconclusive}
	default:
		return nil
	}
}

func interruption(ctx context.Context) (int, bool) {
	var by stopped
	switch {
	case ctx.Err() == nil:
		return 0, false
	case errors.As(context.Cause(ctx), &by) && by.signal.String() == "terminated":
		return exitTerminated, true
	default:
		return exitInterrupted, true
	}
}

// overall is the verdict on a run: the worst of its scenarios. Nothing but scenarios that do not
// apply has tested nothing.
func overall(results []checker.Result) checker.Verdict {
	rank := map[checker.Verdict]int{checker.NotApplicable: 0, checker.Pass: 1, checker.Inconclusive: 2, checker.Broken: 3, checker.Fail: 4}
	worst := checker.NotApplicable
	for _, r := range results {
		if rank[r.Verdict] > rank[worst] {
			worst = r.Verdict
		}
	}
	if worst == checker.NotApplicable {
		return checker.Inconclusive
	}
	return worst
}

// stamp renders a time for the report.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// requests returns the greatest number of requests that plans can send before the final probe.
func requests(plans []scenarios.Plan) int {
	n := 0
	for _, p := range plans {
		n += p.Requests()
	}
	return n
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
