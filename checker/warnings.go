package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

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
	e.warn("ungraceful-loser", "%s answered with a server error; a retry resolved it", func(tr *trace) bool {
		return len(serverErrors(tr)) > 0 && failuresResolved(tr)
	})
	e.warn("ungraceful-loser", "%s answered with a server error, and no retry resolved it", func(tr *trace) bool {
		return len(serverErrors(tr)) > 0 && !failuresResolved(tr)
	})
	e.warn("late-visibility", "%s acknowledged before the row could be seen", func(tr *trace) bool { return seenLate(e, tr) })
	if t1 := e.history.T1; t1 != nil && t1.Waited > 0 && !e.terms.Contract.Ack.Accepted.ByRows() {
		e.found.warnings = append(e.found.warnings, Warning{Kind: "late-visibility", Text: fmt.Sprintf("rows could be seen only %s after the answers", t1.Waited.Duration().Round(time.Millisecond))})
	}
	if i := e.incident(history.NotRecovered); i != nil {
		e.found.warnings = append(e.found.warnings, Warning{Kind: "not-recovered", Text: i.Text})
	}
	e.warn("declined", "%s answered with 402, which is taken for a decline by business; name the answer in contract.errors.declined", func(tr *trace) bool {
		return !e.terms.namesDeclines() && has(tr.attempts, Declined)
	})
	warnLate(e)
	warnRememberedLonger(e)
	warnUnanswered(e)
	warnCleanupFailed(e)
	warnUnclaimed(e)
}

// warnLate warns of rows that came, and later than the contract says.
func warnLate(e *evaluation) {
	e.warn("late", "%s done later than the contract says", func(tr *trace) bool {
		return slices.ContainsFunc([]*history.Snapshot{e.history.T1, e.history.T2}, func(s *history.Snapshot) bool {
			return s != nil && slices.Contains(s.Late, tr.intent.Bodies[history.Original].Marker)
		})
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
			return a.outcome == Acknowledged && a.followup == nil && !a.promised && a.End < seen.At
		})
	})
}
