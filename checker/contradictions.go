package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// checkContradictions checks that an acknowledged request is not rejected or declined afterwards, and that neither a
// stored rejection nor a decline is followed by an acknowledgement (I11).
func checkContradictions(e *evaluation, m moment, tr *trace, record []*classified) {
	acknowledged, rejected := withOutcome(record, Acknowledged), filter(record, func(a *classified) bool { return a.is(Rejected, Declined) && !a.respelled() })
	reportContradiction(e, m, tr, acknowledged, rejected, "Once acknowledged, a repetition is not rejected.", "level: idempotent")
	reportContradiction(e, m, tr, filter(rejected, func(a *classified) bool { return storedRejection(e, a) }), acknowledged, "Once rejected, a repetition is rejected again.", "errors.store_4xx: true")
	if !e.terms.namesDeclines() {
		return
	}
	declined, other := withOutcome(record, Declined), filter(record, func(a *classified) bool { return a.is(Acknowledged, Accepted, Exists) })
	reportContradiction(e, m, tr, declined, other, "Once declined, a repetition is declined again.", "errors.declined")
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

// reportToldNowhere reports a copy that was told, while the request ran that was acknowledged, that there is no such thing: no contract
// says "in progress" so, unless it names the status. A look-up that cannot see what another transaction commits meanwhile answers that.
func reportToldNowhere(e *evaluation, m moment, tr *trace, same []*classified) {
	acknowledged := withOutcome(same, Acknowledged)
	for _, b := range withOutcome(same, Rejected) {
		i := slices.IndexFunc(acknowledged, func(a *classified) bool { return a.Start < b.End && b.Start <= a.End })
		if i < 0 || b.respelled() || !contract.SaysAbsent(b.Status) {
			continue
		}
		a := acknowledged[i]
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "status", Promise: "A copy of a request that is done is not told that there is nothing.", Contract: "level: idempotent",
			Expected: fmt.Sprintf("status %d again, or an answer by which the contract says that the first request still runs", a.Status),
			Observed: fmt.Sprintf("status %d, while the same request was acknowledged", b.Status),
			Differs:  []Difference{{Attempt: b.ID, Where: "status", First: fmt.Sprint(a.Status), Then: fmt.Sprint(b.Status)}},
		})
		return
	}
}

// checkElsewhere checks that an acknowledged request is not rejected because it comes from elsewhere, or because the name
// of its key's header is in another case.
func checkElsewhere(e *evaluation, m moment, tr *trace, record []*classified) {
	acknowledged := withOutcome(record, Acknowledged)
	for _, a := range record {
		if a.Body != history.Elsewhere && a.Body != history.HeaderCase || a.outcome != Rejected || a.refusedSender() || !slices.ContainsFunc(acknowledged, func(first *classified) bool { return first.End < a.Start }) {
			continue
		}
		promise, differs := "The same request from another client, place and time is the same request.", strings.Join(slices.Sorted(maps.Keys(a.Own)), ", ")
		if a.Body == history.HeaderCase {
			promise, differs = "The names of headers have no case (RFC 9110, section 5.1).", "the case of the key's header"
		}
		e.report(m, tr, Finding{
			Kind: FalseConflict, Detail: a.Body, Promise: promise,
			Contract: "level: idempotent",
			Expected: "the answer of the first request",
			Observed: fmt.Sprintf("attempt %s, which differs in nothing but %s, was refused with status %d", a.ID, differs, a.Status),
		})
		return
	}
}

// checkRespelled checks that the same JSON value counts as the same request, however it is spelled.
func checkRespelled(e *evaluation, m moment, tr *trace, record []*classified) {
	mode := e.terms.Contract.Fingerprint.Mode
	if mode != contract.FingerprintJSON && mode != contract.FingerprintFields {
		return
	}
	for _, a := range record {
		if !a.respelled() || a.headersRespelled() || a.otherWay() || a.Body == history.OtherNaming || a.outcome != Rejected || !a.mismatch {
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
