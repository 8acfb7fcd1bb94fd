package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
)

// Limits of one scenario in the HTML report.
const (
	mostProofs   = 30
	mostWarnings = 20
	mostLinks    = 12
)

// scenarioView is one scenario of the HTML report.
type scenarioView struct {
	Name, Summary, Evidence, Elapsed string
	Verdict                          verdictView
	Kinds                            string // of its findings, for the filter
	Counts                           string
	Worth                            string
	Reasons, Told                    []string
	Proofs                           []proofView
	Warnings                         []string
	BurstText                        string
	Bursts                           []bar
	WriterText                       string
	Writers                          *histogram
	Phases                           *strip
	Outcomes                         *stack
	Findings                         []findingLink
	MoreFindings                     int
}

// proofView is how far one proof of exercise held.
type proofView struct {
	Name, Text             string
	Held, Of, Needed       int
	HeldWidth, NeededWidth string // in percent
	Enough                 bool
}

// findingLink leads from a scenario to one of its findings.
type findingLink struct{ Anchor, ID, Kind string }

// newScenarioView shows a scenario. Anchors are the places of the findings that the report lists, by id.
func newScenarioView(res checker.Result, anchors map[string]string) scenarioView {
	v := scenarioView{
		Name: name(res.Scenario), Summary: prose(res.Summary), Evidence: fit(evidence(res), 2*widestCell), Elapsed: duration(res.Elapsed),
		Verdict: newVerdictView(res.Verdict), Kinds: kindsOf(res), Worth: worth(res), Reasons: missing(res),
		Counts: fmt.Sprintf("%s, %s, seed %d", plural(res.Intents, "intent"), plural(res.Attempts, "request"), res.Seed),
		Phases: newStrip(res.Phases), Outcomes: outcomeStack(res.Outcomes),
		BurstText: noteOf(tightness, res), WriterText: noteOf(crowds, res),
	}
	for _, e := range res.Exercise[:min(len(res.Exercise), mostProofs)] {
		v.Proofs = append(v.Proofs, newProofView(e))
	}
	for _, line := range told(checker.Report{Results: []checker.Result{res}}) {
		v.Told = append(v.Told, fit(line[1], 4*widestCell))
	}
	for _, w := range res.Warnings[:min(len(res.Warnings), mostWarnings)] {
		v.Warnings = append(v.Warnings, warningText(w))
	}
	if res.Bursts != nil {
		v.Bursts = burstBars(res.Bursts)
	}
	if res.Writers != nil {
		v.Writers = newHistogram(res.Writers.Waiting)
	}
	for _, f := range res.Findings[:min(len(res.Findings), mostLinks)] {
		v.Findings = append(v.Findings, findingLink{Anchor: anchors[name(f.ID)], ID: name(f.ID), Kind: name(string(f.Kind))})
	}
	v.MoreFindings = len(res.Findings) - len(v.Findings)
	return v
}

func newProofView(e checker.Exercise) proofView {
	of := max(float64(e.Of), float64(e.Needed), 1)
	return proofView{
		Name: name(e.Proof), Text: prose(e.Text), Held: e.Held, Of: e.Of, Needed: e.Needed, Enough: e.Held >= e.Needed,
		HeldWidth: percentOf(float64(e.Held), of), NeededWidth: percentOf(float64(e.Needed), of),
	}
}

// noteOf is what one of the notes of the other reports says of one scenario; empty: nothing.
func noteOf(notes func(checker.Report) [][2]string, res checker.Result) string {
	list := notes(checker.Report{Results: []checker.Result{res}})
	if len(list) == 0 {
		return ""
	}
	text := list[0][1]
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// kindsOf lists the kinds of a scenario's findings, a space between them.
func kindsOf(res checker.Result) string {
	var kinds []string
	for _, f := range res.Findings {
		if kind := name(string(f.Kind)); !slices.Contains(kinds, kind) && len(kinds) < mostKinds {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " ")
}
