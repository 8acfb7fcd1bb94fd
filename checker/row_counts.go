package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// checkRowCounts checks the number of rows of traces that were sent with one body, or of
// whose bodies each is an intent: invariants I1 to I3, decision table 1 and the rows of
// table 4. Bounds come from the answers: each acknowledgement raises the lower one, and
// each attempt that may have been executed the upper one, up to one per intent.
func checkRowCounts(e *evaluation, m moment, traces []*trace, body string) {
	for _, tr := range traces {
		checkMissingKey(e, m, tr)
	}
	rows, known := e.rowsOf(m, traces[0], body)
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
		e.doubt("intent %s has a row although none of its requests reached the target: another client writes its marker", traces[0].intent.ID)
	case n > b.upper:
		reportPhantom(e, m, unexplainedTrace(e, traces), n, b.upper)
	}
	checkFalseConflicts(e, m, traces, n)
	checkContent(e, m, traces[0], bodySide{body: body, rows: rows})
}

// untouched reports that no request of the traces reached the target.
func untouched(traces []*trace) bool {
	return !slices.ContainsFunc(traces, func(tr *trace) bool {
		return slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.outcome != NotSent })
	})
}

// unexplainedTrace returns the trace to which a row without a cause belongs.
func unexplainedTrace(e *evaluation, traces []*trace) *trace {
	i := slices.IndexFunc(traces, func(tr *trace) bool {
		b := e.terms.bounds(tr)
		return b.upper < max(b.intended, 1)
	})
	return traces[max(i, 0)]
}

// reportDuplicate reports more rows than intents; since says more about the rows.
func reportDuplicate(e *evaluation, m moment, tr *trace, rows, intended int, since string) {
	if how := madeByReplication(e, tr); how != "" {
		e.report(m, tr, Finding{
			Kind: Diverged, Detail: "replicated", Contract: "converged: " + e.terms.Contract.Converged.String(),
			Promise:  "One intent has at most one effect, whichever instances its requests reach.",
			Expected: fmt.Sprintf("at most %s for this marker", count(intended, "row")),
			Observed: fmt.Sprintf("%s: %s, and replication brought them together%s", count(rows, "row"), how, since),
		})
		return
	}
	e.report(m, tr, Finding{
		Kind:     Duplicate,
		Expected: fmt.Sprintf("at most %s for this marker", e.counted(intended, tr)),
		Observed: e.counted(rows, tr) + since,
	})
}

// reportMissing reports acknowledged rows that are not there, on the traces that can have
// lost one. Of twins it may be either, so each of them gets the finding.
func reportMissing(e *evaluation, m moment, traces []*trace, rows, lower int) {
	for _, tr := range traces {
		if e.terms.bounds(tr).lower == 0 {
			continue
		}
		f := Finding{
			Kind:     LostWrite,
			Expected: fmt.Sprintf("at least %s for this marker: the client was told so", e.counted(lower, tr)),
			Observed: e.counted(rows, tr),
		}
		if m == atT1 && cameLater(e, tr) {
			f.Observed += "; the row that the answer named was there after the final retry: it came by that, or later by itself; where rows are looked for in a copy that lags behind, rows.visible_within says for how long"
		}
		if only := withOutcome(tr.attempts, Acknowledged); !slices.ContainsFunc(only, func(a *classified) bool { return !a.promised }) && len(only) > 0 {
			if at, due := e.snapshot(m).At, dueBy(e, only); at < due && e.incident(history.Interruption) != nil {
				e.doubt("the rows of intent %s were read %s before the work that was accepted had to be done", tr.intent.ID, (due - at).Duration().Round(time.Millisecond))
				continue
			}
			f.Detail, f.Promise, f.Contract = "accepted", "What was accepted is done.", "ack.accepted.within: "+e.terms.Contract.Ack.Accepted.Within.String()
			f.Expected = fmt.Sprintf("at least %s for this marker by then: the client was told that it would be done", count(lower, "row"))
		}
		e.report(m, tr, f)
	}
}

// cameLater reports that the row which an answer before the final retry named was there after it.
func cameLater(e *evaluation, tr *trace) bool {
	if e.history.T1 == nil {
		return false
	}
	later, _ := e.rowsOf(atT2, tr, history.Original)
	return slices.ContainsFunc(later, func(row history.Row) bool {
		return slices.ContainsFunc(tr.attempts, func(a *classified) bool {
			return a.outcome == Acknowledged && a.End <= e.history.T1.At && a.identity != "" && a.identity == rowIdentity(tr, row)
		})
	})
}

// dueBy is when the contract has the work of accepted attempts done. A crash may give it
// longer.
func dueBy(e *evaluation, accepted []*classified) history.Offset {
	promise := e.terms.Contract.Ack.Accepted
	within := promise.Within
	if len(e.history.Crashes) > 0 {
		within += promise.Recovery
	}
	var last history.Offset
	for _, a := range accepted {
		last = max(last, a.End)
	}
	return last + history.Offset(within)
}

// reportPhantom reports a row that no attempt explains.
func reportPhantom(e *evaluation, m moment, tr *trace, rows, upper int) {
	if slices.ContainsFunc(e.terms.groups(tr.attempts), onlyToldExists) {
		reportCreatorToldExists(e, m, tr, rows)
		return
	}
	e.report(m, tr, Finding{
		Kind:     PhantomRow,
		Expected: fmt.Sprintf("at most %s: every other attempt was rejected", count(upper, "row")),
		Observed: count(rows, "row"),
	})
}

// onlyToldExists reports that an attempt was told "exists already" although no attempt can have created anything.
func onlyToldExists(g keyGroup) bool {
	return has(g, Exists) && !mayHaveEffect(g)
}

// reportCreatorToldExists reports a row whose creator was told that it exists already.
func reportCreatorToldExists(e *evaluation, m moment, tr *trace, rows int) {
	e.report(m, tr, Finding{
		Kind: PhantomRow, Detail: "creator-told-exists",
		Promise:  "The client that creates something is told that it was created.",
		Expected: "an attempt that was acknowledged, or whose answer was lost",
		Observed: count(rows, "row") + ", and its client was told that it exists already",
	})
}

// count writes a number of things: "no row", "1 row", "2 rows".
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
