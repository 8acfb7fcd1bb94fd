package cmd

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

// What run and replay do where no flag says otherwise.
const (
	usualReports      = "reports/runs"
	usualMaxRequests  = 100_000
	usualPilotTimeout = 5 * time.Second
)

// runOptions are the flags of run, and what replay sets in their place.
type runOptions struct {
	args         []string // scenarios, as named
	target       string
	database     string
	store        string // Redis server of a built-in target; empty: $DOUBLETAP_STORE, or none
	operation    string
	instances    int // of a process; 0: as its target file or design says
	seed         uint64
	seeded       bool
	toxiproxy    string
	reports      string
	gate         gate
	known        string             // file of the register of known bugs; empty: none
	register     scenarios.Register // what it says
	confidence   bound              // what a pass of a scenario that races is to be worth; 0: what its file makes it worth
	dryRun       bool
	maxRequests  int
	pilotTimeout time.Duration
	only         []int                       // numbers of the intents to send; nil: all
	offsets      map[string]time.Duration    // of a sweep, by intent, to be tried again
	moments      map[string]scenarios.Moment // of a link that breaks, likewise
	finding      string                      // directory of the finding that is replayed; empty: a run
	unpublished  bool                        // nobody reads the reports, or asks how short a window its bursts hit
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
			o.args, o.seeded = args, cmd.Flags().Changed("seed")
			return runCommand(cmd.Context(), o, s)
		},
	}
	o.flags(cmd)
	o.gate.flags(cmd)
	cmd.Flags().StringVar(&o.known, "known", "", "register of known bugs of built-in scenarios: with these only, a scenario fails as expected")
	cmd.Flags().Var(&o.confidence, "confidence", "play scenarios that race so often that a pass says, with 95 % confidence, that less than this share of rounds breaks, such as 1%")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be sent where, and stop")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the plan; the same seed gives the same plan (default: random)")
	return cmd
}

// flags adds the flags that run and replay share.
func (o *runOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var((*targetFlag)(&o.target), "target", "target file, builtin:NAME, or served:NAME for a process that can be killed (default "+defaultTarget+")")
	f.StringVar(&o.database, "database", "", "database of a built-in target: a postgres or mariadb URL (default $"+databaseVariable+", else a SQLite file); of a served one also sqlite, postgres or mariadb, for a private one")
	f.StringVar(&o.store, "store", "", storeUsage)
	f.StringVar(&o.operation, "operation", "", "operation of the target (default: what the scenarios ask for, else its first by name)")
	f.IntVar(&o.instances, "instances", 0, "start so many instances of the target behind a balancer, 1 to 16 (default: process.instances of the target file)")
	f.StringVar(&o.toxiproxy, "toxiproxy", "", "URL of a running toxiproxy server (default: in process)")
	f.StringVar(&o.reports, "reports", usualReports, "directory for the runs' files")
	f.IntVar(&o.maxRequests, "max-requests", usualMaxRequests, "refuse scenarios that may send more requests than this, with the steps of the target file; final probes come on top")
	f.DurationVar(&o.pilotTimeout, "pilot-timeout", usualPilotTimeout, "how long a plain create may take before the target counts as not answering")
}

func runCommand(ctx context.Context, o runOptions, s streams) error {
	files, err := findScenarios(o.args)
	register, unread := readRegister(o.known)
	o.register, err = register, errors.Join(o.gate.check(), err, unread)
	if o.target == "" {
		o.target = defaultTarget
	}
	o.seed = seedOf(o)
	if err != nil {
		return errors.Join(err, mistakesInTarget(o.target, s))
	}
	report, err := perform(ctx, files, o, s)
	if report != nil && s.report != nil {
		s.report(*report)
	}
	return conclude(ctx, report, err, o.gate, s)
}

// perform runs scenarios against the target and writes the reports. A dry run has no report. What
// failed on the way comes beside the report, if there is one.
func perform(ctx context.Context, files []scenarios.File, o runOptions, s streams) (report *checker.Report, err error) {
	if o.pilotTimeout <= 0 {
		return nil, mistakef("--pilot-timeout is %s, expected more than 0s", o.pilotTimeout)
	}
	sub, err := openSubject(ctx, files, o, s)
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
	if err := sub.openLinks(ctx, o.toxiproxy); err != nil {
		return nil, err
	}
	if sub.target.Process == nil { // a database that the process makes is not there yet
		if err := sub.connect(ctx, r.needs); err != nil {
			return nil, err
		}
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

// stamp renders a time for the report.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plural counts things: a word, and its plural where that is not the word with an s.
func plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	default:
		return fmt.Sprintf("%d %ss", n, one)
	}
}
