package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

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
		if only := withOutcome(tr.attempts, Acknowledged); !slices.ContainsFunc(only, func(a *classified) bool { return !onlyAccepts(&e.terms, a) }) && len(only) > 0 {
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

// onlyAccepts reports that an acknowledgement says no more than that the work was taken: it is that answer, or what the contract has a repetition of
// it get, which may come before the work is done.
func onlyAccepts(t *Terms, a *classified) bool {
	accepted := t.Contract.Ack.Accepted
	return a.promised || accepted.ByRows() && slices.ContainsFunc(accepted.Statuses, func(status int) bool {
		return slices.Contains(t.Contract.Replay.Status[status], a.Status)
	})
}

// cameLater reports that the row which an answer before the final retry named was there after it, and not before.
func cameLater(e *evaluation, tr *trace) bool {
	if e.history.T1 == nil {
		return false
	}
	before, _ := e.rowsOf(atT1, tr, history.Original)
	later, _ := e.rowsOf(atT2, tr, history.Original)
	return slices.ContainsFunc(later, func(row history.Row) bool {
		named := rowIdentity(tr, row)
		return !slices.ContainsFunc(before, func(b history.Row) bool { return rowIdentity(tr, b) == named }) && slices.ContainsFunc(tr.attempts, func(a *classified) bool {
			return a.outcome == Acknowledged && a.End <= e.history.T1.At && a.identity != "" && a.identity == named
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
