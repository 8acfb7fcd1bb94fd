package reports

import (
	"fmt"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
)

// overview is the first screen of the HTML report.
type overview struct {
	Verdict   verdictView
	Headline  string
	Lead      string
	Figures   []figure
	Exercised string
	Bounds    []string
	Facts     []fact
	Commands  []fact
	Verdicts  *stack
	Outcomes  *stack
}

// verdictView is a verdict as a class, a character and a word: no reader depends on its colour.
type verdictView struct{ Class, Mark, Word string }

// figure is a number and what it counts.
type figure struct {
	Value int
	Label string
}

// fact is a labelled text.
type fact struct{ Label, Text string }

func newVerdictView(v checker.Verdict) verdictView {
	class := "inconclusive"
	switch v {
	case checker.Pass, checker.Fail, checker.NotApplicable, checker.Broken, checker.Known, checker.Mended:
		class = v.String()
	}
	return verdictView{Class: class, Mark: mark(v), Word: words(v)}
}

func newOverview(r checker.Report) overview {
	return overview{
		Verdict: newVerdictView(r.Verdict), Headline: headline(r), Lead: sentence(r), Figures: figures(r),
		Exercised: exercisedText(r), Bounds: bounds(r), Facts: facts(r), Commands: commands(r),
		Verdicts: verdictStack(r), Outcomes: runOutcomes(r),
	}
}

// headline is the verdict in one sentence.
func headline(r checker.Report) string {
	if len(r.Results) == 0 {
		return "No scenario was run."
	}
	broke, held := broken(r), 0
	for _, res := range r.Results {
		if res.Verdict == checker.Pass {
			held += res.Intents
		}
	}
	switch known := broke[checker.Known]; {
	case r.Verdict == checker.Pass && known > 0:
		return "Nothing broke but what is known, in " + plural(known, "intent") + "."
	case r.Verdict == checker.Pass:
		return "No broken promise was seen in " + plural(held, "intent") + "."
	case r.Verdict == checker.Fail:
		return fmt.Sprintf("A promise was broken in %s%s.", plural(broke[checker.Fail], "intent"), worst(r))
	case r.Verdict == checker.Mended:
		return "A bug that is known was not seen any more."
	case r.Verdict == checker.NotApplicable:
		return "Nothing in this run applies to the target."
	case r.Verdict == checker.Broken:
		return "No judgement: doubletap or its surroundings failed."
	default:
		return "Nothing broke, but too little was exercised to call it a pass."
	}
}

func figures(r checker.Report) []figure {
	intents, attempts := 0, 0
	for _, res := range r.Results {
		intents += res.Intents
		attempts += res.Attempts
	}
	return []figure{
		{len(r.Results), "scenarios"}, {intents, "intents"}, {attempts, "requests"}, {len(findings(r)), "findings"},
	}
}

// exercisedText says for how many proofs of exercise the scenarios have what they need.
func exercisedText(r checker.Report) string {
	proofs, enough := 0, 0
	for _, res := range r.Results {
		for _, e := range res.Exercise {
			proofs++
			if e.Held >= e.Needed {
				enough++
			}
		}
	}
	if proofs == 0 {
		return "No scenario names a proof of exercise, so nothing is known to have been exercised."
	}
	text := fmt.Sprintf("%d of %s of exercise held for as many intents as needed.", enough, plural(proofs, "proof"))
	if enough < proofs {
		text += " Where one fell short, the scenario gets no pass."
	}
	return text
}

// mostBounds is how many lines the first screen has for what passes are worth.
const mostBounds = 3

// bounds says what the passes are worth, the strongest first.
func bounds(r checker.Report) []string {
	var list []string
	groups := worths(r)
	for i, w := range groups {
		if i == mostBounds {
			return append(list, "The other passes are listed under “What the passes are worth”.")
		}
		text := w.bound()
		list = append(list, strings.ToUpper(text[:1])+text[1:]+": "+plural(len(w.scenarios), "scenario")+".")
	}
	return list
}

func facts(r checker.Report) []fact {
	return present([]fact{
		{"Target", r.Target}, {"Seed", fmt.Sprint(r.Seed)}, {"Run", r.Run}, {"Started", r.Started},
		{"Made by", r.Tool}, {"Files", r.Dir},
	})
}

func commands(r checker.Report) []fact {
	list := []fact{{"Do the whole run again", r.Again}}
	if all := findings(r); len(all) > 0 {
		list = append(list, fact{"Show the worst finding again", typed(r.Replay, all[0].finding)})
	}
	return present(list)
}

func present(list []fact) []fact {
	var kept []fact
	for _, f := range list {
		if f.Text != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

// typed is a command about a finding as the page shows it; empty if there is none.
func typed(command string, f checker.Finding) string { return head(about(command, f.ID), longest) }

// filters is what the findings and scenarios can be filtered by.
type filters struct {
	Verdicts         []verdictView
	Kinds, Scenarios []string
}

func newFilters(r checker.Report) filters {
	var f filters
	for _, v := range byAttention() {
		if countVerdicts(r)[v] > 0 {
			f.Verdicts = append(f.Verdicts, newVerdictView(v))
		}
	}
	for _, t := range kindTallies(findings(r)) {
		f.Kinds = append(f.Kinds, t.Kind)
	}
	for _, res := range r.Results[:min(len(r.Results), mostListed)] {
		f.Scenarios = append(f.Scenarios, name(res.Scenario))
	}
	return f
}

func countVerdicts(r checker.Report) map[checker.Verdict]int {
	count := map[checker.Verdict]int{}
	for _, res := range r.Results {
		count[res.Verdict]++
	}
	return count
}

// kindTally is how often one kind of finding was found.
type kindTally struct {
	Kind, Meaning     string
	Findings, Intents int
}

// mostKinds bounds the list of kinds: a report from elsewhere may have made some up.
const mostKinds = 40

func kindTallies(all []seen) []kindTally {
	list := tallies(all)
	var views []kindTally
	for _, t := range list[:min(len(list), mostKinds)] {
		views = append(views, kindTally{
			Kind: name(string(t.kind)), Meaning: meaning(t.kind), Findings: t.findings, Intents: t.intents,
		})
	}
	return views
}

// worthView is the scenarios that passed with so many exercised rounds.
type worthView struct {
	Rounds    int
	Bound     string
	Width     string // of the bar, in percent; empty: there is no bound
	Scenarios string
}

// mostWorths bounds the list of what passes are worth.
const mostWorths = 20

func worthViews(r checker.Report) []worthView {
	list := worths(r)
	var views []worthView
	for _, w := range list[:min(len(list), mostWorths)] {
		v := worthView{Rounds: w.rounds, Bound: "too few rounds for a bound", Scenarios: fit(strings.Join(w.scenarios, ", "), 20*widestCell)}
		if w.rounds > 3 {
			p := 3 / float64(w.rounds)
			v.Bound, v.Width = "less than "+percent(p), percentOf(p, 1)
		}
		views = append(views, v)
	}
	return views
}
