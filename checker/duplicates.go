package checker

import "fmt"

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
		Observed: e.counted(rows, tr) + since + forgotten(&e.terms, tr),
	})
}
