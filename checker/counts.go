package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// counts holds the rows of stories that were sent with one body against their bounds: invariants I1
// to I3, decision table 1 and the rows of table 4.
func checkRowCounts(e *evaluation, m moment, traces []*trace) {
	for _, tr := range traces {
		checkMissingKey(e, m, tr)
	}
	marker := traces[0].intent.Bodies[history.Original].Marker
	rows, known := e.rows(m, marker)
	if !known {
		return
	}
	b, n := e.terms.boundsOf(traces), len(rows)
	switch {
	case n > max(b.intended, 1):
		reportDuplicate(e, m, traces[0], n, max(b.intended, 1), e.sinceFinalRetry(m))
	case n < b.lower:
		reportMissing(e, m, traces, n, b.lower)
	case n > b.upper && untouched(traces):
		e.doubt("intent %s has a row although nothing of it reached the target: somebody else writes its marker", traces[0].intent.ID)
	case n > b.upper:
		reportPhantom(e, m, unexplainedTrace(e, traces), n, b.upper)
	}
	checkFalseConflicts(e, m, traces, n)
	checkContent(e, m, traces[0], bodySide{body: history.Original, rows: rows})
}

// untouched reports that the harness knows of no request that reached the target.
func untouched(traces []*trace) bool {
	return !slices.ContainsFunc(traces, func(tr *trace) bool {
		return slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.outcome != NotSent })
	})
}

// unexplained picks the story to which a row without a cause belongs.
func unexplainedTrace(e *evaluation, traces []*trace) *trace {
	i := slices.IndexFunc(traces, func(tr *trace) bool {
		b := e.terms.bounds(tr)
		return b.upper < max(b.intended, 1)
	})
	return traces[max(i, 0)]
}

// duplicate reports more rows than there were wishes; since tells more of the rows.
func reportDuplicate(e *evaluation, m moment, tr *trace, rows, wishes int, since string) {
	e.report(m, tr, Finding{
		Kind:     Duplicate,
		Expected: fmt.Sprintf("at most %s for this marker", count(wishes, "row")),
		Observed: count(rows, "row") + since,
	})
}

// sinceProbe says so when something appeared only with the final probe: what shows at T1 already is
// reported there.
func (e *evaluation) sinceFinalRetry(m moment) string {
	if t1 := e.history.T1; m == atT2 && t1 != nil && t1.Error == "" {
		return ", one of them made by the final retry"
	}
	return ""
}

// missing reports acknowledged rows that are not there, on the stories that can have lost one.
func reportMissing(e *evaluation, m moment, traces []*trace, rows, lower int) {
	for _, tr := range traces {
		if e.terms.bounds(tr).lower == 0 {
			continue
		}
		e.report(m, tr, Finding{
			Kind:     LostWrite,
			Expected: fmt.Sprintf("at least %s for this marker: the client was told so", count(lower, "row")),
			Observed: count(rows, "row"),
		})
	}
}

func reportPhantom(e *evaluation, m moment, tr *trace, rows, upper int) {
	if slices.ContainsFunc(e.terms.groups(tr.attempts), onlyToldExists) {
		reportCreatorToldExists(e, m, tr, rows)
		return
	}
	e.report(m, tr, Finding{
		Kind:     PhantomRow,
		Expected: fmt.Sprintf("at most %s: every other attempt was refused", count(upper, "row")),
		Observed: count(rows, "row"),
	})
}

// toldExists reports that somebody was told "that exists already" and nobody can have made it.
func onlyToldExists(g keyGroup) bool {
	return has(g, Exists) && !mayHaveEffect(g)
}

func reportCreatorToldExists(e *evaluation, m moment, tr *trace, rows int) {
	e.report(m, tr, Finding{
		Kind: PhantomRow, Detail: "creator-told-exists",
		Promise:  "Whoever creates something is told that it was created.",
		Expected: "an attempt that was acknowledged, or whose answer was lost",
		Observed: count(rows, "row") + ", and whoever asked for it was told that it exists already",
	})
}

// falseConflicts reports fresh intents that were refused as repetitions of something else.
func checkFalseConflicts(e *evaluation, m moment, traces []*trace, rows int) {
	if rows >= len(traces) {
		return
	}
	for _, tr := range traces {
		if !mayHaveEffect(tr.attempts) && !mayBeRejected(e, tr) && (mistakenForAnother(e, tr) || rejectedBesideTwin(tr, traces) || rejectedBesideNeighbour(e, tr) || rejectedAfterRemoval(tr)) {
			reportFalseConflict(e, m, tr)
		}
	}
}

// excused reports that a refusal may be right, because somebody else used the intent's key and the
// contract does not say that keys are kept apart.
func mayBeRejected(e *evaluation, tr *trace) bool {
	scope := e.terms.Contract.Scope
	return slices.ContainsFunc(e.sharing(tr), func(other *trace) bool {
		return other.intent.Principal != tr.intent.Principal && scope.Principal != contract.ScopeSeparate ||
			other.intent.Operation != tr.intent.Operation && scope.Operation != contract.ScopeSeparate
	})
}

// refusedBesideKin reports that of two intents that the contract keeps apart in spite of their one key,
// one got through and this one was refused.
func rejectedBesideNeighbour(e *evaluation, tr *trace) bool {
	return rejectedAtOnce(tr) && slices.ContainsFunc(e.sharing(tr), func(other *trace) bool { return mayHaveEffect(other.attempts) })
}

// scopeIgnored holds that where the contract refuses a key that another principal, or another operation,
// has used, nobody gets through with it.
func checkScope(e *evaluation, m moment, traces []*trace) {
	scope := e.terms.Contract.Scope
	for _, tr := range traces {
		for _, other := range e.sharing(tr) {
			line := ""
			switch {
			case other.intent.Principal != tr.intent.Principal && scope.Principal == contract.ScopeReject:
				line = "scope.principal: reject"
			case other.intent.Operation != tr.intent.Operation && scope.Operation == contract.ScopeReject:
				line = "scope.operation: reject"
			}
			if line == "" || !acknowledgedBefore(other.until(m), tr) {
				continue
			}
			e.report(m, tr, Finding{
				Kind: AlteredBody, Detail: "scope",
				Promise:  "A key that is taken is refused to everybody else.",
				Contract: line,
				Expected: "a refusal: the key had been used for intent " + other.intent.ID,
				Observed: "an acknowledgement",
			})
		}
	}
}

// acknowledgedBefore reports that one story was acknowledged before anything of another was sent that
// got through.
func acknowledgedBefore(first, then *trace) bool {
	return slices.ContainsFunc(first.attempts, func(a *classified) bool {
		return a.outcome == Acknowledged && slices.ContainsFunc(then.attempts, func(b *classified) bool {
			return b.outcome == Acknowledged && a.Key == b.Key && a.End < b.Start
		})
	})
}

// sharing returns the intents that were sent with a key of this one, though by another principal or to
// another operation.
func (e *evaluation) sharing(tr *trace) []*trace {
	var all []*trace
	for _, other := range e.neighbours[tr.intent.Kin] {
		apart := other.intent.Principal != tr.intent.Principal || other.intent.Operation != tr.intent.Operation
		if apart && meet(tr, other, func(a, b *classified) bool { return equalKeys(a, b) && b.outcome != NotSent }) {
			all = append(all, other)
		}
	}
	return all
}

// refusedAtOnce reports that an intent was refused, and not because something was tried and failed.
func rejectedAtOnce(tr *trace) bool {
	return !has(tr.attempts, InProgress) &&
		slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.outcome == Rejected && a.followup == nil })
}

// refusedBesideTwin reports that of two equal requests one got through and this one was refused.
func rejectedBesideTwin(tr *trace, traces []*trace) bool {
	return rejectedAtOnce(tr) && slices.ContainsFunc(traces, func(twin *trace) bool { return mayHaveEffect(twin.attempts) })
}

func reportFalseConflict(e *evaluation, m moment, tr *trace) {
	f := Finding{
		Kind:     FalseConflict,
		Expected: "an acknowledgement: " + whyNew(tr),
		Observed: "a refusal, and no row",
	}
	if shared := e.sharing(tr); len(shared) > 0 {
		f.Contract, f.Expected = "scope.operation: separate", "an acknowledgement: at this operation nothing with this key was wanted before"
		if who := tr.intent.Principal; who != shared[0].intent.Principal {
			f.Contract, f.Expected = "scope.principal: separate", fmt.Sprintf("an acknowledgement: %s had not used this key before", orNothing(who))
		}
	}
	e.report(m, tr, f)
}

// anew says why a wish is a new one.
func whyNew(tr *trace) string {
	if tr.beforeRemoval != nil {
		return "what was made before is gone"
	}
	return "nothing with this key was wanted before"
}

func checkMissingKey(e *evaluation, m moment, tr *trace) {
	if !tr.operation.Key.Required {
		return
	}
	keyless := filter(tr.attempts, func(a *classified) bool { return a.Key == "" })
	accepted := withOutcome(keyless, Acknowledged)
	if rows, _ := e.rows(m, tr.intent.Bodies[history.Original].Marker); len(rows) > 0 && !tr.twin && len(accepted) == 0 {
		accepted = filter(keyless, func(a *classified) bool { return a.is(Accepted, Unknown) })
		if mayHaveEffect(filter(tr.attempts, func(a *classified) bool { return a.Key != "" })) {
			return
		}
	}
	if len(accepted) == 0 {
		return
	}
	e.report(m, tr, Finding{
		Kind:     MissingKeyAccepted,
		Contract: "key.required: true",
		Expected: "a refusal",
		Observed: fmt.Sprintf("status %d to %s", accepted[0].Status, whatIsMissing(accepted[0])),
	})
}

func whatIsMissing(a *classified) string {
	if a.BlankKey {
		return "a blank key"
	}
	return "a request without a key"
}

// count renders a number of things.
func count(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}
