package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// warningSlot is a warning that is about intents.
type warningSlot struct{ name, principal string }

// warningRule is a warning about the intents to which something applies.
type warningRule struct {
	name    string // unique
	kind    string
	text    string // with %s for their number
	applies func(e *evaluation, tr *trace) bool
}

// warningRules lists the warnings about intents, in the order of the report.
func warningRules() []warningRule {
	return []warningRule{
		{"resolved", "ungraceful-loser", "%s answered with a server error; a retry resolved it", func(_ *evaluation, tr *trace) bool {
			return len(serverErrors(tr)) > 0 && failuresResolved(tr)
		}},
		{"unresolved", "ungraceful-loser", "%s answered with a server error, and no retry resolved it", func(e *evaluation, tr *trace) bool {
			return len(serverErrors(tr)) > 0 && !failuresResolved(tr) && !failsForItsKey(e, tr)
		}},
		{"fails-for-its-key", "ungraceful-refusal", "%s refused for an unusual key, with a server error and not with a 4xx that says what is wrong with it", failsForItsKey},
		{"late-visibility", "late-visibility", "%s acknowledged before the row could be seen", seenLate},
		{"declined", "declined", "%s answered with 402, which is taken for a decline by business; name the answer in contract.errors.declined", func(e *evaluation, tr *trace) bool {
			return !e.terms.namesDeclines() && has(tr.attempts, Declined)
		}},
		{"throttled", "throttled", "%s turned away by the target's rate limit at first; rate_limit in the target file has doubletap keep to it", func(_ *evaluation, tr *trace) bool {
			return len(tr.attempts) > 0 && tr.attempts[0].outcome == Throttled
		}},
		{"late", "late", "%s done later than the contract says", late},
		{"remembered-longer", "remembered-longer", "%s answered with the first request's result after the key should have been forgotten", rememberedLonger},
		{"unanswered", "unanswered", "%s had a request that reached the target on a clean lane and got no answer (%s)", leftUnanswered},
	}
}

// addWarnings notes what breaks no promise and is still worth knowing.
func addWarnings(e *evaluation) {
	for _, rule := range warningRules() {
		for tr := range e.traces() {
			if rule.applies(e, tr) {
				e.tally.warn(warningSlot{name: rule.name}, e.part, tr.intent.ID)
			}
		}
	}
}

// warn notes an intent with a warning. One that is noted again was the last.
func (t *tally) warn(slot warningSlot, part int, intent string) {
	w := t.warnings[slot]
	if w == nil {
		w = &warned{}
		t.warnings[slot] = w
	}
	if n := len(w.intents); n == 0 || w.intents[n-1].text != intent {
		w.count++
		w.intents = append(w.intents, placedText{place{part: part, number: w.count}, intent})
	}
}

// warnings lists the warnings, with their intents; of very many the first.
func (w *whole) warnings() []Warning {
	var all []Warning
	about := func(slot warningSlot, kind, text string, more ...any) {
		if some := w.sum.warnings[slot]; some != nil {
			warning := Warning{Kind: kind, Text: fmt.Sprintf(text, append([]any{count(some.count, "intent")}, more...)...)}
			for _, intent := range some.first() {
				warning.Intents = append(warning.Intents, intent.text)
			}
			all = append(all, warning)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(w.sessions)) {
		about(warningSlot{"session-ended", who}, "session-ended", "%s unauthenticated, and answered after a new login: the session had expired")
	}
	for _, rule := range warningRules() {
		if rule.name == "unanswered" {
			about(warningSlot{name: rule.name}, rule.kind, rule.text, w.unansweredText())
			continue
		}
		about(warningSlot{name: rule.name}, rule.kind, rule.text)
		if rule.name == "late-visibility" {
			all = append(all, ofRuns(w, warningsOfRun)...)
		}
	}
	return slices.Concat(all, ofRuns(w, func(run *whole) []Warning { return cleanupFailed(run.head) }), ofRuns(w, (*whole).unclaimed))
}

// ofRuns lists warnings that are about a run, of all runs that share the intents; what several say is said once.
func ofRuns(w *whole, warn func(*whole) []Warning) []Warning {
	var all []Warning
	for _, run := range w.runs() {
		for _, warning := range warn(run) {
			if !slices.ContainsFunc(all, func(said Warning) bool { return said.Text == warning.Text }) {
				all = append(all, warning)
			}
		}
	}
	return all
}

// warningsOfRun are about no intent.
func warningsOfRun(w *whole) []Warning {
	var all []Warning
	if t1 := w.head.T1; t1 != nil && t1.Waited > 0 && !w.terms.Contract.Ack.Accepted.ByRows() {
		all = append(all, Warning{Kind: "late-visibility", Text: fmt.Sprintf("rows could be seen only %s after the answers", t1.Waited.Duration().Round(time.Millisecond))})
	}
	if i := incident(w.head, history.NotRecovered); i != nil {
		all = append(all, Warning{Kind: "not-recovered", Text: i.Text})
	}
	return all
}

// rememberedLonger reports that a key was still answered for after it should have been forgotten. That does no harm, but it is
// not what the contract says.
func rememberedLonger(e *evaluation, tr *trace) bool {
	return e.terms.Contract.Expiry.Then != contract.ExpiryUnspecified && anyPair(tr.attempts, func(a, b *classified) bool {
		return expired(e, a, b) && b.outcome == Acknowledged && b.identity != "" && a.identity == b.identity
	})
}

// late reports that rows came, and later than the contract says.
func late(e *evaluation, tr *trace) bool {
	return slices.ContainsFunc([]*history.Snapshot{e.history.T1, e.history.T2}, func(s *history.Snapshot) bool {
		return s != nil && slices.Contains(s.Late, tr.intent.Bodies[history.Original].Marker)
	})
}

// failuresResolved reports that each key that got a server error got a final answer after it.
func failuresResolved(tr *trace) bool {
	return !slices.ContainsFunc(serverErrors(tr), func(failed *classified) bool {
		return !slices.ContainsFunc(answersTo(tr, failed), func(a *classified) bool {
			return a.End > failed.End && a.is(Acknowledged, Accepted, Declined, Exists, Rejected)
		})
	})
}

// serverErrors returns the attempts that were answered with a server error, though no link was broken.
func serverErrors(tr *trace) []*classified {
	return filter(tr.attempts, func(a *classified) bool {
		return a.outcome == Unknown && a.Complete && a.Status >= 500 && !duringLinkCut(tr, a)
	})
}

// cleanupFailed warns of failed cleanup steps: what they should have removed is still there.
func cleanupFailed(h *history.History) []Warning {
	var intents []string
	first := ""
	for _, s := range h.Steps {
		if s.For == history.Cleanup && s.Error != "" {
			intents = append(intents, s.Intent)
			first = cmp.Or(first, s.Error)
		}
	}
	if len(intents) == 0 {
		return nil
	}
	return []Warning{{Kind: "cleanup-failed", Intents: intents[:min(len(intents), mostWarned)], Text: fmt.Sprintf("%s failed; the first: %s", count(len(intents), "cleanup"), first)}}
}

// seenLate reports that a row was not there after its acknowledgement, and came later.
func seenLate(e *evaluation, tr *trace) bool {
	return e.committed(tr) && slices.ContainsFunc(e.sightings[tr.intent.ID], func(seen history.Sighting) bool {
		return seen.Rows == 0 && slices.ContainsFunc(tr.attempts, func(a *classified) bool {
			return a.outcome == Acknowledged && a.followup == nil && !a.promised && a.End < seen.At
		})
	})
}
