package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/sut/builtin"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

const (
	usualTarget = "doubletap.yaml"                 // a target file that need not be named
	demoTarget  = sut.BuiltinPrefix + "unique-key" // what the demo plays
)

// storeUsage is the line of --store in the help.
const storeUsage = "Redis server of a built-in target that takes one: redis://HOST:PORT/NUMBER (default $" + sut.StoreVariable + ")"

// forceUsage is the line of --force in the help.
const forceUsage = "replace a file of --output that doubletap did not make, or a symbolic link"

// placeFlag is the value of a flag that says what is tested, or where. An unset shell variable gives --target "", as the commands
// of reports do that leave a password to the environment. That is rejected: something else would be tested, and pass.
type placeFlag struct {
	place    *string
	expected string
}

// Set takes a place, and rejects an empty text.
func (f placeFlag) Set(text string) error {
	if text == "" {
		return fmt.Errorf("expected %s; is its variable set?", f.expected)
	}
	*f.place = text
	return nil
}

// String is the place as it was named.
func (f placeFlag) String() string {
	if f.place == nil { // of the zero value, which pflag asks for the default
		return ""
	}
	return *f.place
}

// Type names the kind of value in the help.
func (f placeFlag) Type() string { return "string" }

// runsFlag is for commands that only read runs.
func runsFlag(cmd *cobra.Command, runs *string) {
	cmd.Flags().StringVar(runs, "reports", engine.DefaultReports, "directory of the runs, for what is named in short, such as last")
}

// targetFlags name a target and what takes the place of parts of it.
type targetFlags struct {
	target, database, store, operation string
	eachOperation                      bool // the others are played in runs of their own
}

// add gives a command the flags that name a target and its operation.
func (t *targetFlags) add(cmd *cobra.Command) {
	t.where(cmd)
	cmd.Flags().StringVar(&t.operation, "operation", "", "operation of the target; all, of run: each in turn, in a run of its own (default: what the scenarios ask for, else its first by name)")
}

// where adds what says which target it is, and where.
func (t *targetFlags) where(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(placeFlag{&t.target, "a target file, or " + sut.BuiltinPrefix + "NAME"}, "target", "target file, builtin:NAME, or served:NAME for a process that can be killed (default: "+usualTarget+" of this folder)")
	_ = cmd.RegisterFlagCompletionFunc("target", completeTargets) // it fails only for a flag that is not there
	f.Var(placeFlag{&t.database, "a URL"}, "database", "database of a built-in target: a postgres or mariadb URL (default $"+sut.DatabaseVariable+", else a SQLite file); of a served one also sqlite, postgres or mariadb, for a private one")
	f.Var(placeFlag{&t.store, "a URL"}, "store", storeUsage)
}

// find takes the target file of this folder, if no target was named.
func (t *targetFlags) find() error {
	switch {
	case t.target != "":
		if name := meantBuiltIn(t.target); name != "" {
			return runerror.Configf("--target: there is no file %q, did you mean %s?", t.target, name)
		}
	case rundir.Exists(usualTarget):
		t.target = usualTarget
	default:
		return runerror.Configf("there is no --target, and no %s in this folder: `doubletap init` writes one for your API, and "+
			"`doubletap demo` tries doubletap on a built-in one", usualTarget)
	}
	return nil
}

// meantBuiltIn is the built-in target that is probably meant by what is no file's name: its prefix has a slip, or is left out; empty: none.
func meantBuiltIn(target string) string {
	if sut.IsBuiltIn(target) || rundir.Exists(target) {
		return ""
	}
	if word, design, found := strings.Cut(target, ":"); found {
		if prefix, near := document.Nearest(word+":", []string{sut.BuiltinPrefix, sut.ServedPrefix}); near {
			return prefix + design
		}
	}
	if _, is := orders.Named(target); is {
		return sut.BuiltinPrefix + target
	}
	return ""
}

// settle finds the target, and returns all mistakes at once: those of other flags (err), and those
// of the target file. One at a time would take as many runs as there are mistakes.
func (t *targetFlags) settle(err error, s streams) error {
	if unnamed := t.find(); unnamed != nil {
		return errors.Join(err, unnamed)
	}
	if err != nil {
		return errors.Join(err, sut.Mistakes(t.options(s)))
	}
	return nil
}

// options are the flags as the system under test takes them.
func (t targetFlags) options(s streams) sut.Options {
	return sut.Options{
		Target: t.target, Database: t.database, Store: t.store, Operation: t.operation, EachOperation: t.eachOperation,
		Getenv: s.getenv, Program: s.program, Parts: builtin.Parts(),
	}
}

// sessionFlags are the flags of commands that send: run, replay, shrink and doctor.
type sessionFlags struct {
	targetFlags
	instances    int
	toxiproxy    string
	reports      string
	maxRequests  int
	pilotTimeout time.Duration
	dryRun       bool
}

// add gives a command the flags of one that sends. Defaults are those of the engine, so that the
// library behaves alike.
func (o *sessionFlags) add(cmd *cobra.Command) {
	o.targetFlags.add(cmd)
	f := cmd.Flags()
	f.IntVar(&o.instances, "instances", 0, "start so many instances of the target behind a balancer, 1 to 16 (default: process.instances of the target file)")
	f.StringVar(&o.toxiproxy, "toxiproxy", "", "URL of a running toxiproxy server (default: in process)")
	f.StringVar(&o.reports, "reports", engine.DefaultReports, "directory for the runs' files")
	f.IntVar(&o.maxRequests, "max-requests", engine.DefaultMaxRequests, "refuse scenarios that may send more requests than this, with the steps of the target file; final retries come on top")
	f.DurationVar(&o.pilotTimeout, "pilot-timeout", engine.DefaultPilotTimeout, "how long a plain create may take before the target counts as not answering")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be sent where, and stop")
}

// config is a run of these scenarios as the flags say.
func (o sessionFlags) config(files []scenarios.File, s streams) (engine.Config, error) {
	if o.pilotTimeout <= 0 {
		return engine.Config{}, runerror.Configf("--pilot-timeout is %s, expected more than 0s", o.pilotTimeout)
	}
	if o.maxRequests <= 0 {
		return engine.Config{}, runerror.Configf("--max-requests is %d, expected 1 or more", o.maxRequests)
	}
	c := engine.Config{
		SUT: o.options(s), Scenarios: files, Reports: o.reports, MaxRequests: o.maxRequests, PilotTimeout: o.pilotTimeout,
		DryRun: o.dryRun, Checkout: checkout(s), RealTime: true,
	}
	c.SUT.Instances, c.SUT.Toxiproxy = o.instances, o.toxiproxy
	return c, nil
}

// share is a share of rounds, 0 to 1, that a pass is to stay below with 95 % confidence. Zero is none.
type share float64

// String returns the share in percent.
func (b share) String() string {
	if b == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(b)*100, 'g', 6, 64) + "%"
}

// Set reads a share such as 1% or 0.01.
func (b *share) Set(text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(digits, 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value > 0 && value < 1) {
		return errors.New("expected a share of rounds such as 1% or 0.01")
	}
	*b = share(value)
	return nil
}

// Type names the kind of value in the help.
func (b *share) Type() string { return "share" }

// newGroup returns a command that only holds others. Cobra would greet a word that is none of them
// with the help text and exit code 0.
func newGroup(use, short string, children ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var names []string
			for _, child := range children {
				names = append(names, child.Name())
			}
			return runerror.Configf("unknown command %q for %q (it has %s)", args[0], cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
	group.AddCommand(children...)
	return group
}
