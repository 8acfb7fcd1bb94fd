package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// Limits of one scenario in the HTML report.
const (
	mostProofs   = 30
	mostWarnings = 20
	mostLinks    = 12
)

// htmlScenario is one scenario of the HTML report.
type htmlScenario struct {
	Name, Summary, Evidence, Elapsed  string
	Verdict                           verdictView
	Kinds                             string // of its findings, for the filter
	Counts                            string
	Confidence                        string
	Reasons, Known, Excused, Warnings []string
	Proofs                            []proofView
	BurstText                         string
	Bursts                            []bar
	QueueText                         string
	Queue                             *histogram
	Sweep                             *strip
	Outcomes                          *stack
	Findings                          []findingLink
	MoreFindings                      int
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

// newHTMLScenario shows a scenario. Anchors are the places of the findings that the report lists, by id.
func newHTMLScenario(s scenarioView, anchors map[string]string) htmlScenario {
	res := s.Result
	h := htmlScenario{
		Name: name(s.Name), Summary: s.Summary, Evidence: fit(s.Evidence, 2*widestCell), Elapsed: s.Elapsed,
		Verdict: s.Verdict, Kinds: kindsOf(res), Confidence: s.Confidence, Reasons: s.Reasons,
		Counts:   fmt.Sprintf("%s, %s, seed %d", english.Plural(res.Intents, "intent"), english.Plural(res.Attempts, "request"), res.Seed),
		Warnings: s.Warnings[:min(len(s.Warnings), mostWarnings)], BurstText: ended(s.Bursts), QueueText: ended(s.WriteQueue),
		Sweep: newStrip(res.Phases), Outcomes: outcomeStack(res.Outcomes),
	}
	for _, e := range res.Exercise[:min(len(res.Exercise), mostProofs)] {
		h.Proofs = append(h.Proofs, newProofView(e))
	}
	for _, line := range s.Known {
		h.Known = append(h.Known, fit(line, 4*widestCell))
	}
	for _, line := range s.Excused {
		h.Excused = append(h.Excused, fit(line, 4*widestCell))
	}
	if res.Bursts != nil {
		h.Bursts = burstBars(res.Bursts)
	}
	if res.Writers != nil {
		h.Queue = newHistogram(res.Writers.Waiting)
	}
	for _, f := range res.Findings[:min(len(res.Findings), mostLinks)] {
		h.Findings = append(h.Findings, findingLink{Anchor: anchors[name(f.ID)], ID: name(f.ID), Kind: name(string(f.Kind))})
	}
	h.MoreFindings = len(res.Findings) - len(h.Findings)
	return h
}

// newProofView draws a proof against what it needs, which may be more than there were intents.
func newProofView(e checker.Exercise) proofView {
	of := max(float64(e.Of), float64(e.Needed), 1)
	return proofView{
		Name: name(e.Proof), Text: prose(e.Text), Held: e.Held, Of: e.Of, Needed: e.Needed, Enough: e.Held >= e.Needed,
		HeldWidth: percentOf(float64(e.Held), of), NeededWidth: percentOf(float64(e.Needed), of),
	}
}

// ended makes a clause a sentence.
func ended(clause string) string {
	if clause == "" {
		return ""
	}
	return capital(clause) + "."
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
