package reports

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/checker"
)

// offence tells broken promises apart in a way that stays the same from run to run, which the ids of
// findings do not.
type offence struct {
	scenario string
	kind     checker.Kind
	detail   string
}

// String is the offence in a few words: "replay-mismatch (status) in withheld-answer".
func (o offence) String() string {
	what := name(string(o.kind))
	if o.detail != "" {
		what += " (" + name(prose(o.detail)) + ")"
	}
	return what + " in " + name(o.scenario)
}

// breach is one offence and all findings of a run that show it.
type breach struct {
	offence
	finding checker.Finding // the one that a reader should see first
	rate    Rate
}

// breaches groups the findings of a report, worst first.
func breaches(r checker.Report) []breach {
	var list []breach
	at, counted := map[offence]int{}, map[string]bool{}
	for _, s := range findings(r) {
		o := offence{scenario: s.result.Scenario, kind: s.finding.Kind, detail: s.finding.Detail}
		i, known := at[o]
		if !known {
			i = len(list)
			at[o] = i
			list = append(list, breach{offence: o, finding: s.finding, rate: rateOf(s)})
		}
		if id := fmt.Sprintf("%d/%s", i, s.finding.Intent); !counted[id] {
			counted[id] = true
			list[i].rate.Broke++
			list[i].rate.Of = max(list[i].rate.Of, list[i].rate.Broke)
		}
	}
	return list
}

// rateOf is the rate of a finding's offence before anything is counted. What shows only in all intents
// together is tried once per run.
func rateOf(s seen) Rate {
	if s.finding.Intent == checker.EveryIntent {
		return Rate{Of: 1, Unit: wholeRuns}
	}
	return Rate{Of: max(s.result.Intents, 0), Unit: singleIntents}
}
