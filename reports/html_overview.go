package reports

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// Limits of lists that a report from elsewhere may make long.
const (
	mostKinds       = 40
	mostConfidences = 20
)

// overview is the first screen of the HTML report.
type overview struct {
	Verdict   verdictView
	Of        string // target and operation
	Headline  string
	Lead      string
	Figures   []figure
	Exercised string
	Bounds    []string
	Facts     []note
	Commands  []note
	Verdicts  *stack
	Outcomes  *stack
}

// figure is a number and what it counts.
type figure struct {
	Value int
	Label string
}

// newOverview collects what the first screen shows.
func newOverview(v view) overview {
	t := v.Totals
	return overview{
		Verdict: v.Verdict, Of: strings.Join(slices.DeleteFunc([]string{v.Target, v.Operation}, func(s string) bool { return s == "" }), ", "), Headline: v.Headline, Lead: v.Sentence, Exercised: v.Exercised, Bounds: bounds(v), Facts: v.facts(),
		Figures:  []figure{{t.Scenarios, "scenarios"}, {t.Intents, "intents"}, {t.Requests, "requests"}, {t.Findings, "findings"}},
		Commands: runCommands(v), Verdicts: verdictStack(v.Verdicts), Outcomes: runOutcomes(v),
	}
}

// bounds says what the passes show, the strongest first.
func bounds(v view) []string {
	const most = 3 // lines on the first screen
	var list []string
	for i, c := range v.Confidence {
		if i == most {
			return append(list, "The other passes are listed under “"+confidenceTitle+"”.")
		}
		list = append(list, capital(c.Bound)+": "+english.Plural(len(c.Scenarios), "scenario")+".")
	}
	return list
}

// runCommands is what repeats the run. The commands about a finding stand beside it.
func runCommands(v view) []note { return present([]note{{"Repeat the run", v.Again}}) }

// filters is what the findings and scenarios can be filtered by.
type filters struct {
	Verdicts         []verdictView
	Kinds, Scenarios []string
}

// newFilters offers only what occurs in the report.
func newFilters(v view) filters {
	var f filters
	for _, verdict := range byAttention() {
		if v.Verdicts[verdict] > 0 {
			f.Verdicts = append(f.Verdicts, newVerdictView(verdict))
		}
	}
	for _, k := range htmlKinds(v) {
		f.Kinds = append(f.Kinds, k.Kind)
	}
	for _, s := range v.Scenarios[:min(len(v.Scenarios), mostListed)] {
		f.Scenarios = append(f.Scenarios, name(s.Name))
	}
	return f
}

// htmlKinds are the kinds of the findings as the page has room for them.
func htmlKinds(v view) []kindTotal {
	var list []kindTotal
	for _, k := range v.Kinds[:min(len(v.Kinds), mostKinds)] {
		k.Kind = name(k.Kind)
		list = append(list, k)
	}
	return list
}

// htmlConfidence is what the passes of some scenarios show, with a bar.
type htmlConfidence struct {
	Rounds    int
	Bound     string
	Width     string // of the bar, in percent; empty: there is no bound
	Scenarios string
}

// htmlConfidences lists what passes show, the strongest first, each with a bar as long as its bound.
func htmlConfidences(v view) []htmlConfidence {
	var list []htmlConfidence
	for _, c := range v.Confidence[:min(len(v.Confidence), mostConfidences)] {
		h := htmlConfidence{Rounds: c.Rounds, Bound: "too few rounds for a bound", Scenarios: fit(strings.Join(c.Scenarios, ", "), 20*widestCell)}
		if c.Share > 0 {
			h.Bound, h.Width = "below "+percent(c.Share), percentOf(c.Share, 1)
		}
		list = append(list, h)
	}
	return list
}

// runOutcomes draws how all requests of the run were answered.
func runOutcomes(v view) *stack {
	sum := map[checker.Outcome]int{}
	for _, s := range v.Scenarios {
		for o, n := range s.Result.Outcomes {
			sum[o] += n
		}
	}
	return outcomeStack(sum)
}
