package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// reportUnresolved reports a key and body for which the final retry got no final answer, by what that leaves the client
// with: what it asked for is there, or a stored failure is in its way, or nothing ever comes of its key.
func reportUnresolved(e *evaluation, tr *trace, tries []*classified) {
	last := tries[len(tries)-1]
	observed := fmt.Sprintf("after %s still %s", count(last.Retry+1, "more attempt"), last.outcome)
	if !last.Complete {
		observed = fmt.Sprintf("after %s still no answer", count(last.Retry+1, "more attempt"))
	}
	if last.Status != 0 {
		observed += fmt.Sprintf(" (status %d)", last.Status)
	}
	if n := len(acceptedFresh(e, last)); n > 0 {
		observed += fmt.Sprintf(", while %s with a fresh key got through", count(n, "plain create"))
	}
	if e.disturbed() && e.terms.Contract.Lease == 0 && last.is(InProgress) {
		observed += fmt.Sprintf(", %s after the first of them: without contract.lease, a request that died may block its key for %s", (last.End - tries[0].Start).Duration().Round(time.Second), contract.UsualLease)
	}
	kind := kindOfUnresolved(e, tr, last)
	if kind == StoredError {
		observed += ": the failure is what the key has stored"
	}
	e.report(atT2, tr, Finding{
		Kind:     kind,
		Expected: "an acknowledgement, or a refusal where nothing took effect",
		Observed: observed,
	})
}

// kindOfUnresolved names what the last answer to a key and body leaves its client with. What fits none is unavailable:
// the target may answer no request, or the key was answered for another body.
func kindOfUnresolved(e *evaluation, tr *trace, last *classified) Kind {
	rows, _ := e.rows(atT2, tr.intent.Bodies[last.body].Marker)
	all, allKnown := e.rowCount(atT2, tr)
	told := has(answersTo(tr, last), Acknowledged, Exists)
	toldElsewhere := has(withBody(tr.attempts, last.body), Acknowledged, Exists) && !told
	switch {
	case !allKnown: // what there is could not be seen
		return Unavailable
	case len(rows) > 0 && (told || !tr.twin && !toldElsewhere):
		return RefusedThoughDone
	case all > 0, has(tr.attempts, Acknowledged, Exists) && !told:
		return Unavailable
	case isStored(e, tr, last):
		return StoredError
	case last.outcome == InProgress, throughBeside(e, tr, last):
		return StuckKey
	default:
		return Unavailable
	}
}

// isStored reports that a server error is what the target has stored under a key: it says that it is a replay, or all
// answers to the key were equal while others got through.
func isStored(e *evaluation, tr *trace, last *classified) bool {
	if !last.Complete || last.Status < 500 {
		return false
	}
	if rule := e.terms.Contract.Replay.Marker; rule != nil && !unmarkedBy(rule)(last) {
		return true
	}
	answers := filter(answersTo(tr, last), func(a *classified) bool { return a.Complete })
	differ := filter(answers, func(a *classified) bool {
		return a.Status != last.Status || a.Content != last.Content || a.Digest != last.Digest
	})
	return len(answers) >= 2 && len(differ) == 0 && throughBeside(e, tr, last)
}

// throughBeside reports that a create with another key got through after this key was first answered.
func throughBeside(e *evaluation, tr *trace, last *classified) bool {
	return e.asking().throughSince(last.Key, answersTo(tr, last)[0].End)
}

// answersTo returns the attempts with the key and the body of one.
func answersTo(tr *trace, one *classified) []*classified {
	return filter(tr.attempts, func(a *classified) bool { return a.Key == one.Key && a.body == one.body })
}

// refusedAlone reports that a key was rejected at the entry to the end while fresh keys got through: a fresh one after a
// try, then another try, and a fresh one after that. A rate limit that all share does not tell them apart.
func refusedAlone(e *evaluation, tries []*classified) bool {
	last := tries[len(tries)-1]
	if !last.Complete {
		return false
	}
	fresh := acceptedFresh(e, tries[0])
	between := filter(fresh, func(a freshCreate) bool { return a.end < last.Start })
	after := filter(fresh, func(a freshCreate) bool { return a.start > last.End })
	return len(between) > 0 && len(after) > 0 && len(between)+len(after) == len(e.asking().fresh)
}

// acceptedFresh returns the plain creates with a fresh key that got through after an attempt.
func acceptedFresh(e *evaluation, since *classified) []freshCreate {
	return filter(e.asking().fresh, func(a freshCreate) bool { return a.through && a.start > since.End })
}

// failsForItsKey reports that a target answers each request of an intent, and of its neighbours, with a server error or a refusal,
// and makes nothing, while keys of another form get through: for want of a check of its own it refuses a key that its database
// does not take, such as one that is longer than the column, or two in one where it wants a UUID. A client is told that nothing was
// done, if not why.
func failsForItsKey(e *evaluation, tr *trace) bool {
	two := hasTwoKeys(tr)
	if tr.intent.Kin == "" && !two || len(e.sharing(tr)) > 0 || len(serverErrors(tr)) == 0 || !throughBeside(e, tr, serverErrors(tr)[0]) {
		return false
	}
	if two {
		return failedForNothing(e, tr) && !e.asking().twoKeysDone
	}
	return !slices.ContainsFunc(e.neighbours[tr.intent.Kin], func(other *trace) bool { return !failedForNothing(e, other) })
}

// failedForNothing reports that each request of an intent was refused or failed, with a whole answer, and that there is no row.
func failedForNothing(e *evaluation, tr *trace) bool {
	rows, known := e.rowCount(atT2, tr)
	return known && rows == 0 && !slices.ContainsFunc(tr.attempts, func(a *classified) bool {
		return !a.is(Rejected, NotSent, Throttled) && (a.outcome != Unknown || !a.Complete || a.Status < 500)
	})
}

// hasTwoKeys reports that each request of an intent came with two keys.
func hasTwoKeys(tr *trace) bool {
	return len(tr.attempts) > 0 && !slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.Body != history.TwoHeaders })
}
