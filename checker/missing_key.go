package checker

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/history"
)

// checkMissingKey checks that a request without a required key is rejected. Without an acknowledgement it takes a row
// that nothing but such a request can have made.
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

// whatIsMissing names the request without a key.
func whatIsMissing(a *classified) string {
	if a.BlankKey {
		return "a blank key"
	}
	return "a request without a key"
}
