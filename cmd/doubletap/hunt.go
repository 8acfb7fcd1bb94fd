package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// usualHunt is how long a hunt goes on where neither a time nor a bound is given.
const usualHunt = 5 * time.Minute

// huntFlags are the flags of hunt.
type huntFlags struct {
	sessionFlags
	gate  gate
	known string // file of the register of known bugs; empty: none
	hunt  engine.Hunt
	until share
	seed  uint64
	given bool // seed was
	timed bool // hunt.For was
	json  bool
}

// newHunt returns the command that sends rounds until one breaks.
func newHunt(s streams) *cobra.Command {
	o := huntFlags{}
	cmd := &cobra.Command{
		Use:   "hunt [SCENARIO|FILE|DIR ...]",
		Short: "Send rounds of what races until one breaks, or a bound is reached",
		Long: `Hunt looks for a defect that few rounds show. It sends rounds of the scenarios that race, and of variations
of them: other numbers of copies, offsets, intents at a time, a lane with jitter, a write gate. What has
shown the most signs of trouble for its time is sent most: overlap in the target, answers that differ,
failures. It ends with the first finding, with the bound of --until, or after the time of --for, and then
says how rare a defect must be that did not show.

Exit codes are those of run: 1 a finding; 0 none, and a bound that was asked for is reached; 2 nothing was
exercised, or the bound is not reached.`,
		Example: `  doubletap hunt --target orders.yaml --for 5m
  doubletap hunt --target orders.yaml --until 0.1% burst-same-key double-click`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags().Changed("seed")
			if o.timed = cmd.Flags().Changed("for"); !o.timed && o.until == 0 {
				o.hunt.For = usualHunt
			}
			return huntCommand(cmd.Context(), args, o, s)
		},
	}
	o.add(cmd)
	limit := cmd.Flags().Lookup("max-requests")
	limit.Usage, limit.DefValue, o.maxRequests = "end when so many requests were sent, with the final retries", fmt.Sprint(engine.DefaultHuntRequests), engine.DefaultHuntRequests
	inconclusiveFlag(cmd, &o.gate.inconclusive)
	o.gate.fixed = "warn" // a hunt ends before all known bugs were seen
	cmd.Flags().DurationVar(&o.hunt.For, "for", 0, "begin no rounds later than this (default: 5m, without --until)")
	cmd.Flags().Var(&o.until, "until", "end when, with 95 % confidence, less than this share of rounds breaks, such as 0.1%")
	cmd.Flags().StringVar(&o.known, "known", "", "register of known bugs: what breaks in these ways does not end the hunt")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the JSON report in place of the text, or with --dry-run the plan")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the plans of all rounds (default: random)")
	return cmd
}

// huntCommand hunts and shows what it finds. Without arguments the engine picks the scenarios that
// race.
func huntCommand(ctx context.Context, args []string, o huntFlags, s streams) error {
	var files []scenarios.File
	var register scenarios.Register
	var unfound, unread error
	if len(args) > 0 {
		files, unfound = engine.FindScenarios(args)
	}
	if o.known != "" {
		register, unread = engine.ReadRegister(o.known)
	}
	if err := o.settle(errors.Join(o.gate.check(), unfound, unread), s); err != nil {
		return err
	}
	if o.timed && o.hunt.For <= 0 {
		return runerror.Configf("--for is %s, expected more than 0s", o.hunt.For)
	}
	c, err := o.config(files, s)
	if err != nil {
		return err
	}
	o.hunt.Until = float64(o.until)
	c.Hunt, c.Seed, c.Seeded, c.Known = &o.hunt, o.seed, o.given, register
	c.Commands = func(dir string, seed uint64) rundir.Commands {
		return rerun{sessionFlags: o.sessionFlags, args: args, seed: seed, known: o.known, hunt: c.Hunt, gate: gate{inconclusive: o.gate.inconclusive}}.commands(dir)
	}
	report, err := told(s, o.json, func(s streams) (*checker.Report, error) { return perform(ctx, c, s) })
	return conclude(ctx, report, err, o.gate, s)
}

// huntPlan says what a hunt is going to do.
func huntPlan(a engine.Announced) string {
	text := "a hunt with " + english.Plural(a.Applicable(), "way", "ways") + " to race"
	if a.Hunt.For > 0 {
		text += ", for at most " + a.Hunt.For.String()
	}
	if a.Hunt.Until > 0 {
		text += ", until less than " + share(a.Hunt.Until).String() + " of rounds can break"
	}
	return text + ", and a final retry of each intent"
}

// huntLine shows how far a hunt is: one line that changes on a terminal, elsewhere a line now and then.
type huntLine struct {
	told  time.Duration // when it was told last, since the hunt began
	shown bool          // the line of a terminal is there
}

// huntTold is how often a hunt tells where it is, where there is no terminal.
const huntTold = 15 * time.Second

// show tells where a hunt is. On a terminal it writes over its own last line.
func (l *huntLine) show(e engine.Hunting, s streams) {
	text := huntProgress(e)
	switch {
	case isTerminal(s.err):
		l.shown = true
		fmt.Fprintf(fileOf(s.err), "\r\x1b[K%s", text) // the guarded stream would take the control characters away
	case e.Took-l.told >= huntTold:
		l.told = e.Took
		fmt.Fprintln(s.err, text)
	}
}

// done takes the line of a terminal away.
func (l *huntLine) done(s streams) {
	if l.shown {
		fmt.Fprint(fileOf(s.err), "\r\x1b[K")
		l.shown = false
	}
}

// huntProgress is the line: the bound is an upper limit at 95 % confidence, which says nothing for
// fewer than four rounds.
func huntProgress(e engine.Hunting) string {
	text := fmt.Sprintf("%s · %.3g a second", english.Plural(e.Rounds, "round"), float64(e.Rounds)/max(e.Took.Seconds(), 1e-3))
	if e.Rounds > 3 {
		text += fmt.Sprintf(" · so far less than %.3g%% break", 100*e.Bound)
	}
	if e.Until > 0 {
		text += fmt.Sprintf(" (until %s)", share(e.Until))
	}
	if e.Best != "" {
		text += " · most signs of trouble: " + e.Best
	}
	text += " · " + e.Took.Round(time.Second).String()
	if e.For > 0 {
		text += " of " + e.For.String()
	}
	return text
}
