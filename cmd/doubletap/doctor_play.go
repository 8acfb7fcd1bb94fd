package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// promise says what became of the contract in a scenario that the doctor played.
type promise int

// The states of a promise, the worst first.
const (
	targetGone promise = iota
	notKept
	keptOrUnseen
)

// repeats sends a request again after its answer, and reports whether the contract is kept.
func (d *doctor) repeats(ctx context.Context) promise {
	p := d.play(ctx, "sequential-replay", 1)
	switch kept := d.judge("repetition", p); {
	case kept != keptOrUnseen:
		return kept
	case p.why != "":
		d.say(warning, "repetition", p.why)
	case p.result.Verdict != checker.Pass:
		d.say(warning, "repetition", strings.Join(p.result.Reasons, "; "))
	default:
		d.say(well, "repetition", "answered as the contract says")
	}
	return keptOrUnseen
}

// burst sees whether so many requests get into the target at once, and what they come to there.
func (d *doctor) burst(ctx context.Context) promise {
	p := d.play(ctx, "burst-same-key", 1)
	kept := d.judge("burst", p)
	if kept != keptOrUnseen {
		return kept
	}
	if p.why != "" {
		d.say(warning, "burst", p.why)
		return kept
	}
	exercised := slices.ContainsFunc(p.result.Exercise, func(e checker.Exercise) bool { return e.Held > 0 })
	if !exercised {
		d.say(warning, "burst", "ten requests at once were never inside the target together", "look at its connection limit, and at what stands in front of it")
		return kept
	}
	text := "ten requests at once overlap inside the target"
	if p.result.Bursts != nil {
		text += fmt.Sprintf(", released within %s", p.result.Bursts.Most.Duration().Round(time.Microsecond))
	}
	d.say(well, "burst", text)
	return kept
}

// played is a scenario that the doctor played.
type played struct {
	result  checker.Result
	unnamed []history.Attempt // answers that no line of the contract names
	why     string            // nothing can be said; empty: it can
}

// judge says what broke the contract in a scenario.
func (d *doctor) judge(what string, p played) promise {
	switch {
	case p.why != "":
		return keptOrUnseen
	case p.result.Verdict == checker.Fail:
		f := p.result.Findings[0]
		d.say(ill, what, fmt.Sprintf("%s: expected %s, observed %s", f.Kind, f.Expected, f.Observed), d.advise(f))
		return notKept
	case p.result.Verdict == checker.Broken:
		d.say(ill, what, strings.Join(p.result.Reasons, "; "), "look at the log of the target: it does not take what a run sends")
		return targetGone
	case len(p.unnamed) > 0:
		a := p.unnamed[0]
		d.say(ill, what, fmt.Sprintf("%s, such as %d to attempt %s: no line of the contract names that", english.Plural(len(p.unnamed), "answer"), a.Status, a.ID),
			"correct the target, or say in contract what such an answer means: ack, existing, in_progress, fingerprint or missing_key")
		return notKept
	default:
		return keptOrUnseen
	}
}

// advise says what to do about a finding. What the repetition has shown already is no matter of requests at the same time.
func (d *doctor) advise(f checker.Finding) string {
	together := slices.Contains(f.Circumstances, checker.Overlapping)
	switch system := d.session.System; {
	case system.BuiltIn():
		return engine.CorrectTarget
	case slices.Contains(d.shown, f.Kind):
		return "as above: it takes no requests at the same time"
	default:
		d.shown = append(d.shown, f.Kind)
		return engine.Advice(f, system.Operation(), system.Target.Contract, together)
	}
}

// play plays a scenario of the library with so many intents.
func (d *doctor) play(ctx context.Context, name string, intents int) played {
	f := d.library[slices.IndexFunc(d.library, func(f scenarios.File) bool { return f.Scenario.Name == name })]
	if why := d.session.System.LeavesOut(f.Scenario); why != "" {
		return played{why: why}
	}
	f.Scenario.Intents = intents
	if err := d.session.Play(ctx, f, scenarios.NewPlan(f.Scenario, d.session.Seed())); err != nil {
		return played{why: err.Error()}
	}
	h, err := d.session.History(name)
	if err != nil {
		return played{why: err.Error()}
	}
	terms := d.session.System.Terms()
	unnamed := slices.DeleteFunc(slices.Clone(h.Attempts), func(a history.Attempt) bool { return !terms.Undeclared(a) })
	return played{result: checker.Check(h, terms), unnamed: unnamed}
}
