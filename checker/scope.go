package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
)

// checkScope checks that a key which another principal, operation or path has used is rejected, where the contract says so.
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
			case otherPath(tr, other) && scope.Path == contract.ScopeReject:
				line = "scope.path: reject"
			}
			if line == "" || !acknowledgedBefore(other.until(m), tr) {
				continue
			}
			e.report(m, tr, Finding{
				Kind: AlteredBody, Detail: "scope",
				Promise:  "A key that is taken is rejected for everyone else.",
				Contract: line,
				Expected: "a refusal: the key had been used for intent " + other.intent.ID,
				Observed: "an acknowledgement",
			})
		}
	}
}

// acknowledgedBefore reports that one trace was acknowledged before an acknowledged
// attempt of another was sent with the same key. Requests at once say nothing: either may
// have come first.
func acknowledgedBefore(first, then *trace) bool {
	return slices.ContainsFunc(first.attempts, func(a *classified) bool {
		return a.outcome == Acknowledged && slices.ContainsFunc(then.attempts, func(b *classified) bool {
			return b.outcome == Acknowledged && a.Key == b.Key && a.End < b.Start
		})
	})
}
