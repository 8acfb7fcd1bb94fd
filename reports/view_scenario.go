package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// scenarioView is one scenario in words.
type scenarioView struct {
	Name, Summary string
	Verdict       verdictView
	Elapsed       string
	Share         string // how often it broke, per kind; empty: never
	Evidence      string // what its line says beside the verdict
	Confidence    string // what its pass shows; empty: nothing, or no pass
	Reasons       []string
	Known         []string // its known findings, each with the link to its bug
	Excused       []string // its findings that the contract allows, each with the line
	Warnings      []string
	Proofs        []string // how far each held
	Bursts        string
	WriteQueue    string
	Sweep         string
	Result        checker.Result // as judged, and sanitized: what charts are drawn from
}

// newScenarioView says a result in words.
func newScenarioView(res checker.Result) scenarioView {
	v := scenarioView{
		Name: res.Scenario, Summary: prose(res.Summary), Verdict: newVerdictView(res.Verdict), Elapsed: duration(res.Elapsed),
		Share: share(res), Confidence: confidence(res), Reasons: reasons(res), Known: knownFindings(res), Excused: excusedFindings(res),
		Bursts: burstSpread(res.Bursts), WriteQueue: writeQueue(res.Writers), Sweep: sweep(res.Phases), Result: res,
	}
	for _, e := range res.Exercise {
		v.Proofs = append(v.Proofs, proof(e))
	}
	for _, w := range res.Warnings {
		v.Warnings = append(v.Warnings, warning(w))
	}
	v.Evidence = v.evidence()
	return v
}

// proof says how far a proof of exercise held: "overlapped 12/12".
func proof(e checker.Exercise) string {
	text := fmt.Sprintf("%s %d/%d", name(e.Proof), e.Held, e.Of)
	if e.Held < e.Needed {
		text += fmt.Sprintf(" (needs %d)", e.Needed)
	}
	return text
}

// warning says what happened, and in how many intents where they are known.
func warning(w checker.Warning) string {
	if len(w.Intents) == 0 {
		return name(w.Kind) + ": " + prose(w.Text)
	}
	return fmt.Sprintf("%s in %s: %s", name(w.Kind), english.Plural(len(w.Intents), "intent"), prose(w.Text))
}

// evidence is why the scenario has its verdict: what broke, or else what is missing, and what was exercised.
func (v scenarioView) evidence() string {
	parts := []string{v.Share}
	if v.Share == "" && len(v.Result.Reasons) > 0 && v.Result.Verdict != checker.Pass {
		parts = []string{v.Reasons[0]}
	}
	if len(v.Excused) > 0 {
		parts = append(parts, "excused: "+excusedShare(v.Result))
	}
	return joined(append(append(parts, v.Proofs...), fewer(v.Result)), " · ")
}

// fewer says that a scenario was played with fewer intents than it has; empty: it was not.
func fewer(res checker.Result) string {
	if res.Fewer == nil {
		return ""
	}
	slow := "creates are slow"
	if res.Fewer.Start > 0 {
		slow = "the target starts slowly"
	}
	return fmt.Sprintf("%d of its %d intents, as %s", res.Of(), res.Fewer.Whole, slow)
}

// slowed says of how many scenarios that holds, and what plays more; empty: of none.
func slowed(results []checker.Result) string {
	creates, starts, create, start := 0, 0, history.Offset(0), history.Offset(0)
	for _, res := range results {
		switch {
		case res.Fewer == nil:
		case res.Fewer.Start > 0:
			starts, start = starts+1, max(start, res.Fewer.Start)
		default:
			creates, create = creates+1, max(create, res.Fewer.Create)
		}
	}
	var why []string
	if creates > 0 {
		why = append(why, fmt.Sprintf("A plain create takes %s, so %s played with fewer intents: --confidence 10%% plays more of what races.", duration(create), english.Plural(creates, "scenario was", "scenarios were")))
	}
	if starts > 0 {
		why = append(why, fmt.Sprintf("The target takes %s to start, so %s played with fewer intents: --confidence 10%% plays more of what races.", duration(start), english.Plural(starts, "scenario with crashes was", "scenarios with crashes were")))
	}
	return strings.Join(why, " ")
}

// share says how often a scenario broke, per kind: "duplicate in 3 of 12 intents".
func share(res checker.Result) string {
	return shareOf(res, func(f findingView) bool { return f.Excused == "" })
}

// excusedShare says how often what happened was allowed by the contract, likewise.
func excusedShare(res checker.Result) string {
	return shareOf(res, func(f findingView) bool { return f.Excused != "" })
}

// shareOf names the first kinds among the findings that count, and how many more there are.
func shareOf(res checker.Result, counts func(findingView) bool) string {
	const most = 2
	var parts []string
	list := kindTotals(slices.DeleteFunc(findingsOf(res, 0), func(f findingView) bool { return !counts(f) }))
	for i, k := range list[:min(len(list), most)] {
		part := fmt.Sprintf("%s in %d", name(k.Kind), k.Intents)
		if i == 0 {
			part = fmt.Sprintf("%s in %s", name(k.Kind), ofIntents(res, k))
		}
		if k.IDs != nil {
			part += " (" + numbers(k.IDs) + ")"
		}
		parts = append(parts, part)
	}
	if more := len(list) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more kinds", more))
	}
	return joined(parts, ", ")
}

// ofIntents says in how many intents a kind was seen, and of how many. Where all of these were exercised and others were not, those are
// tries, and no part of the share.
func ofIntents(res checker.Result, k kindTotal) string {
	if x := res.Exercised; x != nil && x.Broke[checker.Kind(k.Kind)] == k.Intents {
		return fmt.Sprintf("%d of %d exercised (%s)", k.Intents, x.Intents, english.Plural(res.Of(), "try", "tries"))
	}
	return fmt.Sprintf("%d of %s", k.Intents, english.Plural(res.Of(), "intent"))
}

// mostReasons bounds the reasons of one scenario.
const mostReasons = 10

// reasons returns why a scenario has no full judgement.
func reasons(res checker.Result) []string {
	if res.Verdict == checker.Pass {
		return nil
	}
	var list []string
	for _, reason := range res.Reasons {
		list = append(list, prose(reason))
	}
	if len(list) == 0 && res.Verdict != checker.Fail && res.Verdict != checker.Known {
		list = []string{"no reason was recorded"}
	}
	if len(list) > mostReasons {
		more := fmt.Sprintf("and %d more", len(list)-mostReasons)
		list = append(list[:mostReasons:mostReasons], more)
	}
	return list
}

// knownFindings counts the known findings of a scenario, per link to a bug.
func knownFindings(res checker.Result) []string {
	return shares(res, func(f checker.Finding) string { return f.Known }, share)
}

// excusedFindings counts the findings that the contract allows, per line of it.
func excusedFindings(res checker.Result) []string {
	return shares(res, func(f checker.Finding) string { return f.Excused }, excusedShare)
}

// shares counts the findings of a scenario for each reason not to fail it.
func shares(res checker.Result, reason func(checker.Finding) string, share func(checker.Result) string) []string {
	var reasons, list []string
	by := map[string][]checker.Finding{}
	for _, f := range res.Findings {
		why := reason(f)
		if why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		by[why] = append(by[why], f)
	}
	for _, why := range reasons {
		part := res
		part.Findings = by[why]
		list = append(list, share(part)+": "+prose(why))
	}
	return list
}
