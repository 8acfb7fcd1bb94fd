package reports

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/proofs"
)

// confidenceView says what the passes of some scenarios show: how rare a defect must be that did not show.
type confidenceView struct {
	Rounds    int      // that were exercised in each scenario
	Bound     string   // a clause
	Share     float64  // of the rounds in which a defect may still show, at most; 0: too few rounds for a bound
	Scenarios []string // with so many rounds
}

// newConfidenceView bounds the rate of what did not happen in so many rounds, at 95 % confidence.
// It is the rule of three (Hanley and Lippman-Hand, 1983): less than 3 in n. Under four rounds that says nothing.
func newConfidenceView(rounds int) confidenceView {
	v := confidenceView{Rounds: rounds, Bound: "no failure in " + english.Plural(rounds, "exercised round")}
	if rounds <= 3 {
		v.Bound += ", too few to bound the failure rate"
		return v
	}
	v.Share = 3 / float64(rounds)
	v.Bound += fmt.Sprintf(", so the failure rate is below %s", percent(v.Share))
	return v
}

// exercisedRounds returns the rounds for which every proof of a flawless scenario held.
func exercisedRounds(res checker.Result) (int, bool) {
	if !flawless(res.Verdict) || len(res.Exercise) == 0 {
		return 0, false
	}
	return checker.Rounds(res.Exercise), true
}

// confidence says what the pass of one scenario shows. It is empty where there is nothing to say.
func confidence(res checker.Result) string {
	n, passed := exercisedRounds(res)
	if !passed {
		return ""
	}
	return newConfidenceView(n).Bound + " (95% confidence)"
}

// worth says in one sentence what the passes show: those of races, if there are any, as chance hides what they miss. It is empty
// where none of them bounds a rate.
func worth(results []checker.Result) string {
	if races := slices.DeleteFunc(slices.Clone(results), func(r checker.Result) bool { return !raced(r) }); len(races) > 0 {
		results = races
	}
	list := slices.DeleteFunc(confidences(results), func(v confidenceView) bool { return v.Share == 0 })
	if len(list) == 0 {
		return ""
	}
	best, least := list[0], list[len(list)-1]
	text := fmt.Sprintf("With 95%% confidence, less than %s of rounds fail in %s", percent(best.Share), best.Scenarios[0])
	if len(list) > 1 {
		text += fmt.Sprintf(", and less than %s in %s", percent(least.Share), least.Scenarios[0])
	}
	return text + "."
}

// raced reports that a pass rests on requests that were inside the target at once.
func raced(r checker.Result) bool {
	_, passed := exercisedRounds(r)
	return passed && slices.ContainsFunc(r.Exercise, func(e checker.Exercise) bool { return e.Proof == string(proofs.Overlapped) })
}

// confidences groups the flawless scenarios by their rounds, most rounds first.
func confidences(results []checker.Result) []confidenceView {
	var list []confidenceView
	for _, res := range results {
		n, passed := exercisedRounds(res)
		if !passed {
			continue
		}
		i := slices.IndexFunc(list, func(v confidenceView) bool { return v.Rounds == n })
		if i < 0 {
			i = len(list)
			list = append(list, newConfidenceView(n))
		}
		list[i].Scenarios = append(list[i].Scenarios, name(res.Scenario))
	}
	slices.SortStableFunc(list, func(a, b confidenceView) int { return b.Rounds - a.Rounds })
	return list
}
