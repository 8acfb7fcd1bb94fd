package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
)

// slowEnough is how long a run takes that is worth telling beforehand.
const slowEnough = time.Minute

// terminal prints a run while it goes on, and its report.
type terminal struct {
	target  string
	streams streams
	style   reports.Style
	shown   *progress // of the scenario that is being played; nil: none is
	whole   wholeRun
	hunting huntLine
	failure error // the first that could not be printed
}

// newTerminal returns an observer that prints a run against a target, by the name that the user
// gave it.
func newTerminal(target string, s streams) *terminal {
	return &terminal{target: target, streams: s, style: styleOf(s)}
}

// observe prints one event.
func (t *terminal) observe(e engine.Event) {
	switch e := e.(type) {
	case engine.Announced:
		if e.DryRun && t.streams.plan {
			t.failure = reports.PlanJSON(t.streams.bytes, planOf(e))
			return
		}
		t.announce(e)
		t.whole.announced(e)
	case engine.ScenarioStarted:
		t.shown.done()
		t.shown = newProgress(t.streams.err, t.whole.label(e.Name, time.Now()))
	case engine.MoreRounds:
		fmt.Fprintf(t.streams.out, "\nMore rounds of what races and passed, for about %s\n", e.For.Round(time.Second))
	case engine.ReadingRows:
		fmt.Fprintf(t.streams.err, "\nreading rows: %d of %d markers after %s. An index on the column that rows.query compares with :marker makes this faster\n",
			e.Markers, e.Of, e.Took.Round(time.Second))
	case engine.Hunting:
		t.hunting.show(e, t.streams)
	case engine.Progress:
		t.shown.update(e.Done, e.Of)
	case engine.ScenarioDone:
		t.shown.done()
		t.hunting.done(t.streams)
		fmt.Fprintln(t.streams.out, reports.Line(e.Result, t.style))
	case engine.RunDone:
		t.done(e)
	case engine.RunAborted:
		t.streams.github.report(e.Report, e.Files, e.Replay)
	}
}

// done prints the report. A terminal that is gone does not keep it from the disk, where it already is.
func (t *terminal) done(e engine.RunDone) {
	t.hunting.done(t.streams)
	if err := reports.Details(t.streams.out, e.Report, t.style); err != nil {
		t.failure = errors.Join(t.failure, runerror.Environment(err))
	}
	t.streams.github.report(e.Report, e.Files, e.Replay)
	if e.Report.Verdict == checker.Pass && t.target == demoTarget && !e.Replay && e.Report.Hunt == nil {
		tryNext(t.streams)
	}
}

// announce says what will be sent, how much and where. A dry run lists every scenario.
func (t *terminal) announce(a engine.Announced) {
	out, where := t.streams.out, a.Address
	for _, s := range a.Scenarios {
		t.style.Names = max(t.style.Names, len(s.Name))
	}
	switch {
	case a.Instances > 1:
		where += fmt.Sprintf(", %d instances started for this run", a.Instances)
	case a.Instances > 0:
		where += ", started for this run"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "doubletap %s · target %s at %s · seed %d\n", a.Tool, a.Target, where, a.Seed)
	if a.Hunt != nil {
		fmt.Fprint(&text, huntPlan(a))
	} else {
		fmt.Fprintf(&text, "%s, at most %s and a final retry of each intent", english.Plural(a.Applicable(), "scenario"), english.Plural(a.Requests, "request"))
	}
	if a.RowsSource != "" {
		fmt.Fprintf(&text, " · rows read from %s", a.RowsSource)
	}
	switch {
	case a.Together:
		fmt.Fprintf(&text, " · operation %s", a.Operation)
	case len(a.NotPlayed) > 0:
		fmt.Fprintf(&text, " · operation %s, not %s", a.Operation, english.List(a.NotPlayed, "or"))
	}
	if a.Steps > 0 && a.Hunt == nil {
		fmt.Fprintf(&text, " · %s besides, for the steps of its file", english.Plural(a.Steps, "request"))
	}
	if l := a.Limit; l != nil {
		fmt.Fprintf(&text, " · at most %s in %s", english.Plural(l.Requests, "request"), l.Per)
		if l.Takes >= slowEnough && a.Hunt == nil {
			fmt.Fprintf(&text, ", so that the run takes up to %s", l.Takes)
		}
	}
	for line := range strings.SplitSeq(text.String(), "\n") {
		fmt.Fprint(out, fitted(line, 2, t.style))
	}
	for _, w := range a.Warnings {
		fmt.Fprint(out, fitted("warning: "+w, 2, t.style))
	}
	fmt.Fprintln(out)
	if a.DryRun {
		t.list(a.Scenarios)
	}
}

// planOf is what is announced, for programs.
func planOf(a engine.Announced) reports.Plan {
	p := reports.Plan{
		Tool: a.Tool, Target: a.Target, Operation: a.Operation, NotPlayed: a.NotPlayed, Together: a.Together, BaseURL: a.Address,
		Instances: a.Instances, Seed: a.Seed, Requests: a.Requests, Steps: a.Steps, RowsSource: a.RowsSource, Warnings: a.Warnings, Scenarios: []reports.Planned{},
	}
	if a.Limit != nil {
		p.Limit = &reports.PlanLimit{Requests: a.Limit.Requests, Per: a.Limit.Per, Takes: a.Limit.Takes}
	}
	if a.Hunt != nil {
		p.Hunt = &reports.PlanHunt{For: a.Hunt.For, Until: a.Hunt.Until}
	}
	for _, s := range a.Scenarios {
		p.Scenarios = append(p.Scenarios, reports.Planned{Scenario: s.Name, NotApplicable: s.Why, Intents: s.Intents, Requests: s.Requests})
	}
	return p
}

// list prints what each scenario would send.
func (t *terminal) list(all []engine.Planned) {
	for _, s := range all {
		if s.Why != "" {
			fmt.Fprintf(t.streams.out, "  %-*s  not applicable: %s\n", t.style.Names, s.Name, s.Why)
			continue
		}
		fmt.Fprintf(t.streams.out, "  %-*s  %s, at most %s\n", t.style.Names, s.Name,
			english.Plural(s.Intents, "intent"), english.Plural(s.Requests, "request"))
	}
	fmt.Fprintln(t.streams.out, "\nnothing was sent (--dry-run)")
}

// perform runs scenarios and shows what happens, on the terminal and to GitHub Actions.
func perform(ctx context.Context, c engine.Config, s streams) (*checker.Report, error) {
	t := newTerminal(c.SUT.Target, s)
	c.Observe = t.observe
	report, err := engine.Run(ctx, c)
	return report, errors.Join(err, t.failure)
}

// tryNext suggests the next command to those who have run the first one.
func tryNext(s streams) {
	fmt.Fprintf(s.out, "\nTry next, against a design that looks right and is not:\n  %s run --target builtin:check-then-insert\n", program())
}
