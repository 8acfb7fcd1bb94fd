package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// usualMoreRounds is how long the whole library is played on where the evidence is weakest.
const usualMoreRounds = 20 * time.Second

// runFlags are the flags of run.
type runFlags struct {
	sessionFlags
	gate       gate
	known      string // file of the register of known bugs; empty: none
	confidence share
	budget     time.Duration
	moreRounds time.Duration
	seed       uint64
	seeded     bool
	more       bool // moreRounds was asked for
}

func newRun(s streams) *cobra.Command {
	o := runFlags{}
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
			o.seeded, o.more = cmd.Flags().Changed("seed"), cmd.Flags().Changed("more-rounds")
			if !o.more && len(args) == 0 {
				o.moreRounds = usualMoreRounds
			}
			return runCommand(cmd.Context(), args, o, s)
		},
	}
	o.add(cmd)
	o.gate.flags(cmd)
	cmd.Flags().StringVar(&o.known, "known", "", "register of known bugs of built-in scenarios: with these only, a scenario fails as expected")
	cmd.Flags().Var(&o.confidence, "confidence", "play scenarios that race so often that a pass says, with 95 % confidence, that less than this share of rounds breaks, such as 1%")
	cmd.Flags().DurationVar(&o.moreRounds, "more-rounds", 0, "in the end, play scenarios that race and passed again for about so long, with more rounds (default: 20s for the whole library, else none)")
	cmd.Flags().DurationVar(&o.budget, "budget", 0, "begin no scenario later than this; those that are left out are inconclusive (default: all are played)")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the plan; the same seed gives the same plan (default: random)")
	return cmd
}

func runCommand(ctx context.Context, args []string, o runFlags, s streams) error {
	files, err := engine.FindScenarios(args)
	var register scenarios.Register
	var unread error
	if o.known != "" {
		register, unread = engine.ReadRegister(o.known)
	}
	err = errors.Join(o.gate.check(), err, unread)
	if o.target == "" {
		o.target = defaultTarget
	}
	if err != nil {
		return errors.Join(err, sut.Mistakes(o.options(s)))
	}
	c, err := o.config(files, s)
	if err != nil {
		return err
	}
	if o.budget < 0 {
		return runerror.Configf("--budget is %s, expected more than 0s", o.budget)
	}
	if o.moreRounds < 0 {
		return runerror.Configf("--more-rounds is %s, expected 0s or more", o.moreRounds)
	}
	c.Budget, c.MoreRounds = o.budget, o.moreRounds
	c.Seed, c.Seeded, c.Known, c.Confidence = o.seed, o.seeded, register, float64(o.confidence)
	c.Commands = func(dir string, seed uint64) rundir.Commands { return o.rerun(args, seed).commands(dir) }
	report, err := perform(ctx, c, s)
	return conclude(ctx, report, err, o.gate, s)
}

func (o runFlags) rerun(args []string, seed uint64) rerun {
	again := rerun{sessionFlags: o.sessionFlags, args: args, seed: seed, known: o.known, confidence: o.confidence, budget: o.budget, gate: o.gate}
	if o.more {
		again.moreRounds = o.moreRounds.String()
	}
	return again
}
