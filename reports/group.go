package reports

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/checker"
)

// signature tells broken promises apart. It stays the same from run to run, which the ids of findings do not.
type signature struct {
	scenario string
	kind     checker.Kind
	detail   string
	excused  string // line of the contract that allows it; empty: it is a broken promise
}

// String is the signature in a few words: "replay-mismatch (status) in withheld-answer".
func (s signature) String() string {
	what := name(string(s.kind))
	if s.detail != "" {
		what += " (" + name(prose(s.detail)) + ")"
	}
	return what + " in " + name(s.scenario)
}

// covers reports that two signatures may be of one broken promise.
func (s signature) covers(other signature) bool {
	same := s.kind.Covers(other.kind) || other.kind.Covers(s.kind)
	return same && s.scenario == other.scenario && s.detail == other.detail && s.excused == other.excused
}

// failureGroup is the findings of a run with one signature.
type failureGroup struct {
	signature
	finding findingView // the one that a reader should see first
	rate    Rate
}

// failureGroups groups findings, which are worst first.
func failureGroups(all []findingView) []failureGroup {
	var list []failureGroup
	at, counted := map[signature]int{}, map[string]bool{}
	for _, f := range all {
		s := signature{scenario: f.Scenario, kind: f.finding.Kind, detail: f.finding.Detail, excused: f.finding.Excused}
		i, known := at[s]
		if !known {
			i = len(list)
			at[s] = i
			list = append(list, failureGroup{signature: s, finding: f, rate: rateOf(f)})
		}
		if id := fmt.Sprintf("%d/%s", i, f.Intent); !counted[id] {
			counted[id] = true
			list[i].rate.Broke++
			list[i].rate.Of = max(list[i].rate.Of, list[i].rate.Broke)
		}
	}
	return list
}

// rateOf is the rate of a finding's signature before anything is counted. What shows only in all intents
// together is tried once per run.
func rateOf(f findingView) Rate {
	if f.Whole {
		return Rate{Of: 1, Unit: wholeRuns}
	}
	return Rate{Of: max(f.intents, 0), Unit: singleIntents}
}
