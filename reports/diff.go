package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
)

// significant is the p value below which a change of a rate is more than luck.
const significant = 0.05

// Comparison is what changed from an old run to a new one. A broken promise is the same in both if scenario,
// kind and detail are the same; ids of findings and of intents say nothing across runs.
type Comparison struct {
	Version   int             `json:"version"` // of this structure: 1
	Outcome   Outcome         `json:"outcome"`
	Old       Side            `json:"old"`
	New       Side            `json:"new"`
	Judged    int             `json:"judged"`      // scenarios that both runs judged
	Terms     bool            `json:"other_terms"` // the two were checked against different contracts
	Findings  []Change        `json:"findings"`    // worst first
	Scenarios []VerdictChange `json:"scenarios"`   // with another verdict, or in one of the runs only
}

// Side is one of the two runs.
type Side struct {
	Run     string          `json:"run"`
	Dir     string          `json:"dir"`
	Tool    string          `json:"tool"`
	Target  string          `json:"target"`
	Seed    uint64          `json:"seed"`
	Started string          `json:"started"`
	Verdict checker.Verdict `json:"verdict"`
}

// Outcome is what a comparison says to a release gate.
type Outcome string

// The outcomes; each outranks those below it.
const (
	Worse       Outcome = "worse"        // something new broke, or something breaks more often than by luck
	NotCompared Outcome = "inconclusive" // the old run came to a judgement where the new one did not
	NotWorse    Outcome = "not-worse"
)

// Trend is what became of a broken promise.
type Trend string

// The trends. Those of the first two are a change for the worse.
const (
	Appeared  Trend = "new"      // only the new run has it, however rarely
	Risen     Trend = "risen"    // its rate rose by more than luck
	Unchanged Trend = "still"    // both have it, and luck explains the difference
	Fallen    Trend = "fallen"   // its rate fell by more than luck
	Gone      Trend = "gone"     // the new run was judged and does not have it
	Unjudged  Trend = "unjudged" // the new run did not look for it, or not fully
)

// Units of a rate.
const (
	singleIntents = "intent"
	wholeRuns     = "run" // of what shows only in all intents together
)

// Rate is how often a promise broke, with the 95 % score interval of [Wilson].
type Rate struct {
	Broke int     `json:"broke"`
	Of    int     `json:"of"`
	Unit  string  `json:"unit"` // of what: intent, or run
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Change is a broken promise in both runs.
type Change struct {
	Scenario string       `json:"scenario"`
	Kind     checker.Kind `json:"kind"`
	Detail   string       `json:"detail,omitempty"`
	Trend    Trend        `json:"trend"`
	Finding  string       `json:"finding"`       // id of one: in the new run if it is there, else in the old one
	Old      *Rate        `json:"old,omitempty"` // nil: the old run did not judge it
	New      *Rate        `json:"new,omitempty"` // nil: the new run did not judge it
	P        *float64     `json:"p,omitempty"`   // of the rates being equal, by [Fisher]; nil: one side has none
	Adjusted *float64     `json:"p_adjusted,omitempty"`
	Luck     bool         `json:"luck"` // luck explains the difference of the rates
}

// VerdictChange is a scenario whose verdict changed. A run that did not play it has no verdict.
type VerdictChange struct {
	Scenario string           `json:"scenario"`
	Old      *checker.Verdict `json:"old,omitempty"`
	New      *checker.Verdict `json:"new,omitempty"`
	Reasons  []string         `json:"reasons,omitempty"` // why the new run did not judge it
}

// Compare finds what changed from an old run to a recent one. The rates of a broken promise differ by more than luck
// if the p value of Fisher's exact test, two-sided and adjusted by Holm's method for all promises that
// are compared, is under 0.05. Without the adjustment one of twenty comparisons would be beyond luck
// by luck, and a run has many.
func Compare(old, recent checker.Report) Comparison {
	old, recent = sanitize(old), sanitize(recent)
	c := Comparison{
		Version: 1, Old: sideOf(old), New: sideOf(recent), Judged: judged(old, recent),
		Findings: changes(old, recent), Scenarios: verdictChanges(old, recent),
	}
	c.Outcome = c.outcome()
	return c
}

// sideOf takes from a report what a comparison says of a run.
func sideOf(r checker.Report) Side {
	return Side{Run: r.Run, Dir: r.Dir, Tool: r.Tool, Target: r.Target, Seed: r.Seed, Started: r.Started, Verdict: r.Verdict}
}

// brokenPromises leaves out what the contract allows.
func brokenPromises(r checker.Report) []findingView {
	return slices.DeleteFunc(findings(r, checker.Causes(r.Results)), func(f findingView) bool { return f.Excused != "" })
}

// changes pairs the broken promises of two runs.
func changes(old, recent checker.Report) []Change {
	before, after := failureGroups(brokenPromises(old)), failureGroups(brokenPromises(recent))
	all := slices.Clone(after)
	for _, b := range before {
		if _, still := find(after, b.signature); !still {
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b failureGroup) int {
		return cmp.Compare(slices.Index(checker.Kinds(), a.kind), slices.Index(checker.Kinds(), b.kind))
	})
	list := []Change{}
	for _, b := range all {
		list = append(list, Change{
			Scenario: b.scenario, Kind: b.kind, Detail: b.detail, Finding: b.finding.ID,
			Old: rateIn(old, before, b), New: rateIn(recent, after, b),
		})
	}
	test(list)
	for i := range list {
		list[i].Trend = list[i].trend()
	}
	return list
}

// find returns the first failure group that a signature covers, or that covers it, and whether there is one: older
// reports have one kind for what newer ones tell apart.
func find(list []failureGroup, s signature) (failureGroup, bool) {
	i := slices.IndexFunc(list, func(b failureGroup) bool { return s.covers(b.signature) })
	if i < 0 {
		return failureGroup{}, false
	}
	return list[i], true
}

// rateIn is how often a promise broke in a run. That it did not is a rate only where the scenario came
// to a full judgement.
func rateIn(r checker.Report, list []failureGroup, b failureGroup) *Rate {
	rate := Rate{Of: 1, Unit: wholeRuns}
	if found, broke := find(list, b.signature); broke {
		rate = found.rate
	} else if res, known := resultOf(r, b.scenario); !known || !conclusive(res) {
		return nil
	} else if b.rate.Unit == singleIntents {
		rate = Rate{Of: max(res.Of(), 0), Unit: singleIntents}
	}
	rate.Low, rate.High = Wilson(rate.Broke, rate.Of)
	return &rate
}

// resultOf returns the result of a scenario, and whether the run played it.
func resultOf(r checker.Report, scenario string) (checker.Result, bool) {
	for _, res := range r.Results {
		if res.Scenario == scenario {
			return res, true
		}
	}
	return checker.Result{}, false
}

// conclusive reports that what a scenario did not find was looked for. A failure with reasons is one
// that was cut short, or not fully exercised.
func conclusive(res checker.Result) bool {
	return flawless(res.Verdict) || settled(res.Verdict) && len(res.Reasons) == 0
}

// test fills in the p values of all changes that have two rates.
func test(list []Change) {
	var tested []int
	var values []float64
	for i, c := range list {
		list[i].Luck = true
		if c.Old != nil && c.New != nil {
			tested = append(tested, i)
			values = append(values, Fisher(c.New.Broke, c.New.Of, c.Old.Broke, c.Old.Of))
		}
	}
	adjusted := Holm(values)
	for j, i := range tested {
		list[i].P, list[i].Adjusted, list[i].Luck = &values[j], &adjusted[j], adjusted[j] >= significant
	}
}

// trend compares the two rates. A rate that is missing comes first: without a judgement nothing is gone.
func (c Change) trend() Trend {
	switch {
	case c.New == nil:
		return Unjudged
	case c.New.Broke == 0:
		return Gone
	case c.Old == nil || c.Old.Broke == 0:
		return Appeared
	case c.Luck:
		return Unchanged
	case c.New.share() > c.Old.share():
		return Risen
	default:
		return Fallen
	}
}

// share is the rate as a number from 0 to 1. A rate of nothing is 0.
func (r Rate) share() float64 { return float64(r.Broke) / float64(max(r.Of, 1)) }

// turnabouts lists the scenarios whose verdict changed, in the order of the new run; those that only
// the old one has come last.
func verdictChanges(old, recent checker.Report) []VerdictChange {
	list := []VerdictChange{}
	for _, res := range recent.Results {
		t := VerdictChange{Scenario: res.Scenario, New: &res.Verdict}
		if before, known := resultOf(old, res.Scenario); known {
			t.Old = &before.Verdict
		}
		if t.Old != nil && *t.Old == *t.New {
			continue
		}
		if !conclusive(res) {
			t.Reasons = reasons(res)
		}
		list = append(list, t)
	}
	for _, res := range old.Results {
		if _, known := resultOf(recent, res.Scenario); !known {
			list = append(list, VerdictChange{Scenario: res.Scenario, Old: &res.Verdict})
		}
	}
	return list
}

// judged counts the scenarios that both runs judged.
func judged(old, recent checker.Report) int {
	n := 0
	for _, res := range recent.Results {
		if before, known := resultOf(old, res.Scenario); known && settled(res.Verdict) && settled(before.Verdict) {
			n++
		}
	}
	return n
}

// lost reports that the old run came to a judgement and the new one did not.
func (t VerdictChange) lost() bool {
	return t.Old != nil && t.New != nil && !undecided(*t.Old) && undecided(*t.New)
}

// outcome is the worst that any change means. Without a scenario that both runs judged, nothing was compared.
func (c Comparison) outcome() Outcome {
	switch {
	case slices.ContainsFunc(c.Findings, func(f Change) bool { return f.Trend == Appeared || f.Trend == Risen }):
		return Worse
	case c.Judged == 0 || slices.ContainsFunc(c.Scenarios, VerdictChange.lost):
		return NotCompared
	default:
		return NotWorse
	}
}

// ComparisonJSON writes a comparison for programs. New members may come without another version.
func ComparisonJSON(w io.Writer, c Comparison) error {
	text, err := indented(c)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}
