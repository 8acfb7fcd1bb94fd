// Package diagnosis says what the code of a target probably does, from the pattern of what a run showed. It explains findings, and
// never changes a verdict.
package diagnosis

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
)

// Pattern is what a run showed, without what differs from one run of a target to the next.
type Pattern struct {
	// Scenarios has what came of each scenario that decided something: "pass", or its kinds of finding, the worst first, joined by "+".
	Scenarios map[string]string `json:"scenarios"`
	// Causes has the kind, the detail and the circumstances of each cause, such as "duplicate" or "replay-mismatch/status overlapping",
	// sorted.
	Causes []string `json:"causes,omitempty"`
}

// passed stands for a scenario without a finding.
const passed = "pass"

// PatternOf returns the pattern of a run. Where a scenario was run several times, what decided something last counts.
func PatternOf(results []checker.Result) Pattern {
	p := Pattern{Scenarios: map[string]string{}}
	last := map[string]checker.Result{}
	for _, r := range results {
		switch {
		case len(r.Findings) > 0:
			p.Scenarios[r.Scenario], last[r.Scenario] = kindsOf(r), r
		case r.Verdict == checker.Pass:
			p.Scenarios[r.Scenario] = passed
			delete(last, r.Scenario)
		}
	}
	var failed []checker.Result
	for _, r := range last {
		failed = append(failed, r)
	}
	slices.SortFunc(failed, checker.CompareResults)
	for _, c := range checker.Causes(failed) {
		if text := textOf(c); !slices.Contains(p.Causes, text) {
			p.Causes = append(p.Causes, text)
		}
	}
	slices.Sort(p.Causes)
	return p
}

// kindsOf names the kinds of a result's findings, the worst first.
func kindsOf(r checker.Result) string {
	var kinds []string
	for _, row := range checker.KindTable() {
		if slices.ContainsFunc(r.Findings, func(f checker.Finding) bool { return f.Kind == row.Kind }) {
			kinds = append(kinds, string(row.Kind))
		}
	}
	return strings.Join(kinds, "+")
}

// textOf is a cause in one line.
func textOf(c checker.Cause) string {
	text := string(c.Kind)
	if len(c.Details) > 0 {
		details := slices.Sorted(slices.Values(c.Details))
		text += "/" + strings.Join(details, "+")
	}
	for _, one := range c.Circumstances {
		text += " " + string(one)
	}
	return text
}
