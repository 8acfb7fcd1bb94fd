package checker

import (
	"fmt"
	"slices"
)

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
