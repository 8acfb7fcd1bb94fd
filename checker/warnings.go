package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// warnRememberedLonger warns of keys that were still answered for after they should have been forgotten. That does
// no harm, but it is not what the contract says.
func warnRememberedLonger(e *evaluation) {
	if e.terms.Contract.Expiry.Then == contract.ExpiryUnspecified {
		return
	}
	e.warn("remembered-longer", "%s answered with the first request's result after the key should have been forgotten", func(tr *trace) bool {
		return anyPair(tr.attempts, func(a, b *classified) bool {
			return expired(e, a, b) && b.outcome == Acknowledged && b.identity != "" && a.identity == b.identity
		})
	})
}

// addWarnings notes what breaks no promise and is still worth knowing.
func addWarnings(e *evaluation) {
	e.warn("ungraceful-loser", "%s answered with a server error under load; a retry resolved or will have to", func(tr *trace) bool {
		return slices.ContainsFunc(tr.attempts, func(a *classified) bool {
			return a.outcome == Unknown && a.Complete && a.Status >= 500 && !duringLinkCut(tr, a)
		})
	})
	e.warn("late-visibility", "%s acknowledged before the row could be seen", func(tr *trace) bool { return seenLate(e, tr) })
	warnRememberedLonger(e)
	warnCleanupFailed(e)
}

// warnCleanupFailed warns of failed cleanup steps: what they should have removed is still there.
func warnCleanupFailed(e *evaluation) {
	var intents []string
	first := ""
	for _, s := range e.history.Steps {
		if s.For == history.Cleanup && s.Error != "" {
			intents = append(intents, s.Intent)
			first = cmp.Or(first, s.Error)
		}
	}
	if len(intents) > 0 {
		e.found.warnings = append(e.found.warnings, Warning{Kind: "cleanup-failed", Intents: intents, Text: fmt.Sprintf("%s failed; the first: %s", count(len(intents), "cleanup"), first)})
	}
}

// seenLate reports that a row was not there after its acknowledgement, and came later.
func seenLate(e *evaluation, tr *trace) bool {
	return e.committed(tr) && slices.ContainsFunc(e.sightings[tr.intent.ID], func(seen history.Sighting) bool {
		return seen.Rows == 0 && slices.ContainsFunc(tr.attempts, func(a *classified) bool {
			return a.outcome == Acknowledged && a.followup == nil && a.End < seen.At
		})
	})
}
