package checker

import (
	"fmt"
	"slices"
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
