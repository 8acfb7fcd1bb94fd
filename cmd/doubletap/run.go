package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// usualMoreRounds is how long the whole library is played on where the evidence is weakest.
const usualMoreRounds = 20 * time.Second

// runFlags are the flags of run.
type runFlags struct {
	sessionFlags
	gate       gate
	known      string // file of the register of known bugs; empty: none
	writeKnown string // file for a register of what the run finds; empty: none
	confidence share
	budget     time.Duration
	moreRounds time.Duration
	seed       uint64
	seeded     bool
	skip       []string
	failFast   bool
	shard      shardFlag
	parallel   int // scenarios that are played beside each other; 0: as the engine finds right

	ignoreEffects bool
	failed        bool // play what failed in the latest run
	json          bool // print the JSON report in place of the text
	more          bool // moreRounds is to be said in the command that shows a run again
	workers       workersFlags
}

// newRun returns the command that plays scenarios and judges them.
func newRun(s streams) *cobra.Command {
	o := runFlags{}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO|FILE|DIR ...]",
		Short: "Run scenarios against a target and judge what happened",
		Long: `Run sends every scenario to the target through toxiproxy, records what was on the wire, asks the
database and gives a verdict. Without arguments it runs the whole built-in library. A name picks a
built-in scenario, a pattern such as 'burst-*' several, a path a file or all files of a folder.
Without --target it takes doubletap.yaml of this folder; "doubletap init" writes one.`,
		Example: `  doubletap run
  doubletap run --target orders.yaml --seed 7 burst-same-key my-scenarios/
  doubletap run 'burst-*' --skip burst-under-load --fail-fast
  doubletap run --last-failed
  doubletap run --target builtin:check-then-insert --database postgres://me@localhost/test`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.more = cmd.Flags().Changed("more-rounds"); !o.more && len(args) == 0 && !o.failed {
				o.moreRounds = usualMoreRounds
			}
			return o.play(cmd, args, s)
		},
	}
	o.addTo(cmd)
	return cmd
}

// addTo gives the flags of run to a command.
func (o *runFlags) addTo(cmd *cobra.Command) {
	o.add(cmd)
	o.gate.flags(cmd)
	cmd.Flags().StringSliceVar(&o.skip, "skip", nil, "leave these scenarios out: names, or patterns such as 'crash-*'")
	cmd.Flags().BoolVar(&o.failFast, "fail-fast", false, "begin no scenario after one that failed; those that are left out are inconclusive")
	cmd.Flags().Var(&o.shard, "shard", "send one part of the intents, such as 3/8, the third of eight, which takes --seed; /8: the part that $JOB_COMPLETION_INDEX says, counted from 0. Merge judges all parts as one")
	cmd.Flags().IntVar(&o.parallel, "parallel", 0, "play so many scenarios beside each other, of those that do not race; 1: each has the target to itself (default: at most 3, fewer where the target is slow)")
	o.workers.add(cmd)
	cmd.Flags().BoolVar(&o.failed, "last-failed", false, "play the scenarios that failed in the latest run")
	cmd.Flags().BoolVar(&o.ignoreEffects, "ignore-effects", false, "count nothing that reaches a sink: it answers, and reports say what was not watched")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the JSON report in place of the text, or with --dry-run the plan; of several operations a list of them")
	cmd.Flags().StringVar(&o.known, "known", "", "register of known bugs of built-in scenarios: with these only, a scenario fails as expected")
	cmd.Flags().StringVar(&o.writeKnown, "write-known", "", "write a register of known bugs with each cause that this run finds, for --known of later runs")
	cmd.Flags().Var(&o.confidence, "confidence", "play scenarios that race so often that a pass says, with 95 % confidence, that less than this share of rounds breaks, such as 1%")
	cmd.Flags().DurationVar(&o.moreRounds, "more-rounds", 0, "in the end, play scenarios that race and passed again for about so long, with more rounds (default: 20s for the whole library, else none)")
	cmd.Flags().DurationVar(&o.budget, "budget", 0, "end the run after about so long: what finds most in its time is played, and what is left out or cut short is inconclusive (default: all are played)")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the plan; the same seed gives the same plan (default: random)")
}

// play is the command line of run, with the flags that were given.
func (o *runFlags) play(cmd *cobra.Command, args []string, s streams) error {
	o.seeded = cmd.Flags().Changed("seed")
	for _, name := range []string{"shards", "wait", "lease"} {
		if cmd.Flags().Changed(name) && !o.workers.at.given {
			return runerror.Configf("--%s is for runs that workers play: it takes --workers", name)
		}
	}
	return runCommand(cmd.Context(), args, *o, s)
}

// turn is what is played of one operation.
type turn struct {
	operation string // empty: as the scenarios say, or the target's first
	args      []string
	files     []scenarios.File
}

// turns are what is asked for: the scenarios of arguments, or with --last-failed those that failed in the latest run, of each
// operation that it played.
func (o runFlags) turns(args []string) ([]turn, error) {
	asked := []turn{{operation: o.operation, args: args}}
	if o.failed {
		if len(args) > 0 {
			return nil, runerror.Configf("--last-failed chooses the scenarios, so that %s has no place beside it", args[0])
		}
		var err error
		if asked, err = o.lastFailed(); err != nil {
			return nil, err
		}
	}
	var errs error
	for i, t := range asked {
		files, err := engine.FindScenarios(t.args, o.skip...)
		asked[i].files, errs = files, errors.Join(errs, err)
	}
	return asked, errs
}

// lastFailed are the scenarios that failed in the latest run, or in the latest of each operation.
func (o runFlags) lastFailed() ([]turn, error) {
	latest, err := rundir.LatestOfEach(o.reports)
	if err != nil {
		return nil, err
	}
	var all []turn
	var seen []string
	for _, dir := range latest {
		report, err := dir.ReadReport()
		if err != nil {
			return nil, err
		}
		if o.operation != "" && o.operation != everyOperation && report.Operation != o.operation {
			continue
		}
		seen = append(seen, dir.Path)
		// Where several were played, each is named: without a name, the file's first would be played.
		t := turn{operation: o.operation}
		if len(report.NotPlayed) > 0 || len(latest) > 1 {
			t.operation = report.Operation
		}
		for _, r := range report.Results {
			switch {
			case len(r.Findings) == 0 || r.Verdict != checker.Fail:
			case engine.BuiltInScenario(r.Scenario):
				t.args = append(t.args, r.Scenario)
			default:
				t.args = append(t.args, filepath.Join(dir.Path, r.Scenario, rundir.ScenarioName))
			}
		}
		if len(t.args) > 0 {
			all = append(all, t)
		}
	}
	switch {
	case len(seen) == 0:
		return nil, runerror.Configf("the latest run, %s, did not play the operation %s", latest[len(latest)-1].Path, o.operation)
	case len(all) == 0:
		return nil, runerror.Configf("no scenario of the latest run, %s, failed", english.List(seen, "and"))
	}
	return all, nil
}

// check says what is wrong with the numbers of the flags, and asks the environment for the shard
// if it is to tell.
func (o *runFlags) check(s streams) error {
	if o.budget < 0 {
		return runerror.Configf("--budget is %s, expected more than 0s", o.budget)
	}
	if o.parallel < 0 {
		return runerror.Configf("--parallel is %d, expected 1 or more", o.parallel)
	}
	if err := o.shard.resolve(s.getenv); err != nil {
		return err
	}
	if o.shard.Several() && !o.seeded {
		return runerror.Configf("--shard %s without --seed: all shards have to be of one plan", o.shard)
	}
	if err := o.checkWorkers(); err != nil {
		return err
	}
	if o.moreRounds < 0 {
		return runerror.Configf("--more-rounds is %s, expected 0s or more", o.moreRounds)
	}
	return nil
}

// runCommand plays what was asked for: one run, or one for each operation in turn. Files are read
// before flags are looked at any closer, so that one command names the mistakes of all files. The
// register is written last, by what all the runs have shown.
func runCommand(ctx context.Context, args []string, o runFlags, s streams) (failed error) {
	asked, err := o.turns(args)
	var register scenarios.Register
	var unread error
	if o.known != "" {
		register, unread = engine.ReadRegister(o.known)
	}
	out, kept := o.registerOutput()
	err = errors.Join(o.gate.check(), err, unread, kept)
	if err := o.settle(err, s); err != nil {
		return err
	}
	if err := o.check(s); err != nil {
		return err
	}
	if !o.failed {
		if asked, err = o.inTurn(ctx, asked[0], s); err != nil {
			return err
		}
	}
	if o.json && (len(asked) > 1 || o.operation == everyOperation && asked[0].operation != everyOperation) {
		all := &jsonList{to: s.bytes}
		s.bytes = all
		defer func() { failed = errors.Join(failed, all.end()) }()
	}
	var played []checker.Report
	play := func(ctx context.Context, t turn, o runFlags) (*checker.Report, error) {
		o.operation = t.operation
		play := o.playOne
		if o.workers.at.given {
			play = o.leadOne
		}
		report, err := play(ctx, t.args, t.files, register, s)
		if report != nil {
			played = append(played, *report)
		}
		return report, err
	}
	every := false
	if len(asked) == 1 {
		_, err = play(ctx, asked[0], o)
	} else {
		err = o.playEach(ctx, asked, play, s)
		all := slices.DeleteFunc(slices.Clone(asked), func(t turn) bool { return !t.played() })
		every = o.operation == everyOperation && !o.failed && len(played) == len(all) && ctx.Err() == nil
	}
	if every {
		err = o.settleEvery(fixedEverywhere(registered(register, asked), played), err, s)
	}
	if o.writeKnown == "" {
		return err
	}
	unwritten := o.writeRegister(out, register, played, every, s)
	if severity(unwritten) > severity(err) {
		err, unwritten = unwritten, err
	}
	complain(s.err, unwritten)
	return err
}

// playOne plays scenarios with one operation of the target.
func (o runFlags) playOne(ctx context.Context, args []string, files []scenarios.File, register scenarios.Register, s streams) (*checker.Report, error) {
	c, err := o.config(files, s)
	if err != nil {
		return nil, err
	}
	c.Budget, c.MoreRounds, c.FailFast, c.Parallel = o.budget, o.moreRounds, o.failFast, o.parallel
	c.SUT.Unwatched = o.ignoreEffects
	c.Shard = o.shard.Shard
	c.Seed, c.Seeded, c.Known, c.Confidence = o.seed, o.seeded, register, float64(o.confidence)
	c.Commands = func(dir string, seed uint64) rundir.Commands { return o.rerun(args, seed).commands(dir) }
	report, err := told(s, o.json, func(s streams) (*checker.Report, error) { return perform(ctx, c, s) })
	return report, conclude(ctx, report, err, o.gate, s)
}

// told plays, and tells what is played as text, or in the end as JSON in its place. A dry run tells its plan.
func told(s streams, asJSON bool, play func(streams) (*checker.Report, error)) (*checker.Report, error) {
	if !asJSON {
		return play(s)
	}
	quiet := s.quiet()
	quiet.plan = true
	report, err := play(quiet)
	if report != nil {
		err = errors.Join(err, reports.JSON(s.bytes, *report))
	}
	return report, err
}

// rerun is the command that does this run once more, with the seed that it drew.
func (o runFlags) rerun(args []string, seed uint64) rerun {
	again := rerun{sessionFlags: o.sessionFlags, args: args, seed: seed, known: o.known, confidence: o.confidence, budget: o.budget, gate: o.gate, skip: o.skip, failFast: o.failFast, parallel: o.parallel, shard: o.shard, ignoreEffects: o.ignoreEffects}
	if o.more {
		again.moreRounds = o.moreRounds.String()
	}
	return again
}
