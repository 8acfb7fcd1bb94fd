package checker

import "slices"

// Truth is what is known of a target before it is tested. The zero value is a broken target of which nothing is
// known.
type Truth struct {
	Correct bool     `json:"correct"`
	Shows   []Kind   `json:"shows,omitempty"` // findings by which a broken one can be known
	By      []string `json:"by,omitempty"`    // scenarios that catch it, each by itself
}

// Mark says what a verdict is worth in the light of the truth.
type Mark string

// The marks. The zero value stands for no verdict at all.
const (
	Unplayed   Mark = ""
	Caught     Mark = "caught"       // a broken target, by a finding that it is known for
	Clean      Mark = "clean"        // a pass, where nothing was to be found
	Missed     Mark = "missed"       // a pass, where a scenario is known to catch it
	FalseAlarm Mark = "false alarm"  // a finding at a correct target
	Misnamed   Mark = "misnamed"     // a finding at a broken target, but none that it is known for
	Unsure     Mark = "inconclusive" // not enough was exercised
	Unjudged   Mark = "broken"       // the harness or its environment failed
	Idle       Mark = "n/a"          // the contract has nothing for the scenario
)

// Mark compares a verdict with the truth.
func (t Truth) Mark(r Result) Mark {
	switch {
	case r.Verdict == NotApplicable:
		return Idle
	case r.Verdict == Broken:
		return Unjudged
	case r.Verdict == Fail && t.Correct:
		return FalseAlarm
	case r.Verdict == Fail && slices.ContainsFunc(r.Findings, t.shownBy):
		return Caught
	case r.Verdict == Fail:
		return Misnamed
	case r.Verdict == Pass && !t.Correct && slices.Contains(t.By, r.Scenario):
		return Missed
	case r.Verdict == Pass:
		return Clean
	default:
		return Unsure
	}
}

// shownBy reports that a broken target is known for a finding.
func (t Truth) shownBy(f Finding) bool {
	return slices.ContainsFunc(t.Shows, func(k Kind) bool { return k.Covers(f.Kind) })
}

// Same reports whether two truths declare the same.
func (t Truth) Same(other Truth) bool {
	return t.Correct == other.Correct && slices.Equal(t.Shows, other.Shows) && slices.Equal(t.By, other.By)
}

// Right reports whether the marks of a whole run are as expected: a broken target is caught at least once, and a
// correct one has no mark but clean and n/a.
func (t Truth) Right(marks []Mark) bool {
	if !t.Correct {
		return slices.Contains(marks, Caught)
	}
	return !slices.ContainsFunc(marks, func(m Mark) bool { return m != Clean && m != Idle })
}
