package checker

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/contract"
)

// checkContradictions checks that an acknowledged request is not rejected afterwards, and that a stored rejection is
// not followed by an acknowledgement (I11).
func checkContradictions(e *evaluation, m moment, tr *trace, record []*classified) {
	acknowledged, rejected := withOutcome(record, Acknowledged), filter(record, func(a *classified) bool { return a.outcome == Rejected && !a.respelled() })
	reportContradiction(e, m, tr, acknowledged, rejected, "Once acknowledged, a repetition is not rejected.", "level: idempotent")
	reportContradiction(e, m, tr, filter(rejected, func(a *classified) bool { return storedRejection(e, a) }), acknowledged, "Once rejected, a repetition is rejected again.", "errors.store_4xx: true")
}

// reportContradiction reports the first attempt of one list that began after an answer of the other was complete.
func reportContradiction(e *evaluation, m moment, tr *trace, first, then []*classified, promise, line string) {
	for _, a := range first {
		for _, b := range then {
			if b.Start <= a.End {
				continue
			}
			e.report(m, tr, Finding{
				Kind: ReplayMismatch, Detail: "status", Promise: promise, Contract: line,
				Expected: fmt.Sprintf("status %d again", a.Status),
				Observed: fmt.Sprintf("status %d", b.Status),
				Differs:  []Difference{{Attempt: b.ID, Where: "status", First: fmt.Sprint(a.Status), Then: fmt.Sprint(b.Status)}},
			})
			return
		}
	}
}

// checkRespelled checks that the same JSON value counts as the same request, however it is spelled.
func checkRespelled(e *evaluation, m moment, tr *trace, record []*classified) {
	mode := e.terms.Contract.Fingerprint.Mode
	if mode != contract.FingerprintJSON && mode != contract.FingerprintFields {
		return
	}
	for _, a := range record {
		if !a.respelled() || a.outcome != Rejected || !a.mismatch {
			continue
		}
		e.report(m, tr, Finding{
			Kind: FalseConflict, Detail: "respelled",
			Promise:  "The same request in another spelling is the same request.",
			Contract: "fingerprint.mode: " + string(mode),
			Expected: "the answer of the first request",
			Observed: fmt.Sprintf("attempt %s, %s, was refused with status %d", a.ID, a.Body, a.Status),
		})
		return
	}
}
