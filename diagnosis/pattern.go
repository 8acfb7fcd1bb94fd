// Package diagnosis says what the code of a target probably does, from the pattern of what a run
// showed. It explains findings, and never changes a verdict.
//
// It compares a cause with what the built-in broken designs showed in the same library of
// scenarios, of which the defect is known, and with the signs that each defect declares. How often
// it is right is measured by leaving out one design after the other.
//
// The parts: a [Pattern] is a cause without what differs from run to run (pattern.go); groups.go
// joins scenarios that ask for the same thing; likely.go compares the features of a pattern with
// those of examples, as a naive Bayes classifier does. The examples are in observations.json.gz (make
// observations); defects.go is the table of defects, mends.go and mends/ say how each is mended, and
// measure.go how often the first guess was right.
//
// What it holds is read once and shared; its functions are safe for concurrent use.
package diagnosis

import (
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
)

// Pattern is a cause and what else its run showed, without what differs from one run of a target to the next.
type Pattern struct {
	Kind          checker.Kind              `json:"kind"`
	Details       []string                  `json:"details,omitempty"`       // sorted
	Circumstances []checker.Circumstance    `json:"circumstances,omitempty"` // the least under which it was seen
	Passed        []string                  `json:"passed,omitempty"`        // scenarios, sorted
	Failed        []string                  `json:"failed,omitempty"`        // those with a finding of this kind
	Other         map[string][]checker.Kind `json:"other,omitempty"`         // kinds of those that failed with other ones only, the worst first
}

// Decided leaves of the results of a run those that decided something. Where a scenario was run several times, the last of them
// stays.
func Decided(results []checker.Result) []checker.Result {
	var list []checker.Result
	for _, r := range results {
		if len(r.Findings) == 0 && r.Verdict != checker.Pass {
			continue
		}
		list = slices.DeleteFunc(list, func(before checker.Result) bool { return before.Scenario == r.Scenario })
		list = append(list, r)
	}
	return list
}

// PatternOf returns the pattern of a cause among the decided results of its run. What the contract excuses is left out.
func PatternOf(c checker.Cause, decided []checker.Result) Pattern {
	return patternOf(c, shownBy(decided))
}

// shown is what a scenario that decided something showed.
type shown struct {
	scenario string
	kinds    []checker.Kind // of its findings, the worst first; none: it passed
}

// shownBy takes the results of a run apart once, for all its causes.
func shownBy(decided []checker.Result) []shown {
	var all []shown
	for _, r := range decided {
		all = append(all, shown{r.Scenario, kindsOf(r)})
	}
	return all
}

// patternOf is the pattern of one cause. Lists are sorted, so that two runs of one target give
// equal patterns, whatever the order of their scenarios.
func patternOf(c checker.Cause, all []shown) Pattern {
	p := Pattern{Kind: c.Kind, Details: slices.Sorted(slices.Values(c.Details)), Circumstances: c.Circumstances}
	for _, s := range all {
		switch {
		case slices.Contains(s.kinds, c.Kind):
			p.Failed = append(p.Failed, s.scenario)
		case len(s.kinds) == 0:
			p.Passed = append(p.Passed, s.scenario)
		default:
			if p.Other == nil {
				p.Other = map[string][]checker.Kind{}
			}
			p.Other[s.scenario] = s.kinds
		}
	}
	slices.Sort(p.Passed)
	slices.Sort(p.Failed)
	return p
}

// kindsOf names the kinds of a result's findings, the worst first.
func kindsOf(r checker.Result) []checker.Kind {
	found := map[checker.Kind]bool{}
	for _, f := range r.Findings {
		if f.Excused == "" {
			found[f.Kind] = true
		}
	}
	var kinds []checker.Kind
	for _, row := range checker.KindTable() {
		if found[row.Kind] {
			kinds = append(kinds, row.Kind)
		}
	}
	return kinds
}
