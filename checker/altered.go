package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// bodySide is one of the two bodies that a key was used with, with its attempts and rows.
type bodySide struct {
	body     string
	marker   string
	attempts []*classified
	rows     []history.Row
}

// checkAlteredBody checks a trace that was sent with two bodies under one key: either body may win, but exactly one
// (decision table 3).
func checkAlteredBody(e *evaluation, m moment, tr *trace) {
	original, knownO := e.sideOf(m, tr, history.Original)
	changed, knownC := e.sideOf(m, tr, history.Altered)
	if !knownO || !knownC {
		checkAlteredByAnswers(e, m, tr)
		return
	}
	o, a := len(original.rows), len(changed.rows)
	switch {
	case o > 1 || a > 1:
		reportDuplicate(e, m, tr, max(o, a), 1, e.sinceFinalRetry(m))
	case o == 1 && a == 1:
		reportBothApplied(e, m, tr, original, changed)
	case o == 1:
		checkOneApplied(e, m, tr, original, changed)
	case a == 1:
		checkOneApplied(e, m, tr, changed, original)
	default:
		checkNoneApplied(e, m, tr)
	}
	checkContent(e, m, tr, original)
	checkContent(e, m, tr, changed)
}

// checkAlteredByAnswers checks the two bodies of a key whose rows are not known: where the contract rejects another body,
// both cannot be acknowledged, one after the other.
func checkAlteredByAnswers(e *evaluation, m moment, tr *trace) {
	if e.terms.Contract.Fingerprint.OnMismatch != contract.MismatchReject {
		return
	}
	acknowledged := filter(tr.attempts, func(a *classified) bool { return a.outcome == Acknowledged && a.Key != "" })
	anyPair(acknowledged, func(a, b *classified) bool {
		if a.body == b.body || a.Key != b.Key || b.Start < a.End || expired(e, a, b) || mayBeForgotten(e, tr, b) {
			return false
		}
		e.report(m, tr, Finding{
			Kind: AlteredBody, Detail: "undetected",
			Contract: "fingerprint.on_mismatch: reject",
			Expected: fmt.Sprintf("a refusal of the %s body, status %v: attempt %s was acknowledged with the %s body under this key", b.body, e.terms.Contract.Fingerprint.Statuses, a.ID, a.body),
			Observed: fmt.Sprintf("status %d to attempt %s, which is an acknowledgement", b.Status, b.ID),
		})
		return true
	})
}

// sideOf collects what belongs to one body, and reports whether its rows are known.
func (e *evaluation) sideOf(m moment, tr *trace, body string) (bodySide, bool) {
	rows, known := e.rowsOf(m, tr, body)
	return bodySide{body: body, marker: tr.intent.Bodies[body].Marker, attempts: withBody(tr.attempts, body), rows: rows}, known
}

// checkBodiesApart checks traces whose two bodies did not meet under one key: twins, or an altered body with a key of
// its own. The contract does not say which body must win, so only the numbers count.
func checkBodiesApart(e *evaluation, m moment, traces []*trace) {
	b, total := e.terms.boundsOf(traces), 0
	for _, body := range []string{history.Original, history.Altered} {
		x, known := e.sideOf(m, traces[0], body)
		if !known {
			return
		}
		total += len(x.rows)
		checkContent(e, m, traces[0], x)
	}
	switch {
	case total > max(b.intended, 1):
		reportDuplicate(e, m, traces[0], total, max(b.intended, 1), e.sinceFinalRetry(m))
	case total < b.lower:
		reportMissing(e, m, traces, total, b.lower)
	case total > b.upper:
		reportPhantom(e, m, unexplainedTrace(e, traces), total, b.upper)
	}
}

// reportBothApplied reports that each body has a row. If one of them was only rejected, its row is a phantom.
func reportBothApplied(e *evaluation, m moment, tr *trace, sides ...bodySide) {
	for _, x := range sides {
		if !has(x.attempts, Acknowledged, Accepted, Declined, Unknown, Exists, InProgress) {
			e.report(m, tr, Finding{
				Kind: PhantomRow, Detail: "rejected-yet-applied",
				Promise:  "What was rejected has no effect.",
				Expected: fmt.Sprintf("no row of the %s body: all its attempts were rejected", x.body),
				Observed: "1 row of each body",
			})
			return
		}
	}
	e.report(m, tr, Finding{
		Kind: Duplicate, Detail: "altered-body-accepted",
		Promise:  "One key has at most one effect, also when it comes with another body.",
		Expected: "1 row, of one of the two bodies",
		Observed: "1 row of each body" + e.sinceFinalRetry(m),
	})
}

// checkOneApplied checks the answers to the body that left no row, where the other body has one.
func checkOneApplied(e *evaluation, m moment, tr *trace, applied, other bodySide) {
	acknowledged := withOutcome(other.attempts, Acknowledged)
	if slices.ContainsFunc(acknowledged, func(a *classified) bool { return overwrote(e, m, tr, a, applied, other) }) {
		reportOverwritten(e, m, tr, applied, other)
		return
	}
	switch {
	case onlyToldExists(applied.attempts):
		reportCreatorToldExists(e, m, tr, 1)
	case !mayHaveEffect(applied.attempts):
		reportPhantom(e, m, tr, 1, 0)
	}
	for _, a := range acknowledged {
		if row := rowIdentity(tr, applied.rows[0]); a.identity == "" || row == "" || a.identity == row {
			checkUndetected(e, m, tr, a, applied, other)
			continue
		}
		reportMissing(e, m, []*trace{tr}, 0, 1)
	}
	checkStoredRejection(e, m, tr, applied, other)
}

// checkNoneApplied checks a key of which neither body took effect.
func checkNoneApplied(e *evaluation, m moment, tr *trace) {
	reportMissing(e, m, []*trace{tr}, 0, 1)
	if mayHaveEffect(tr.attempts) {
		return
	}
	conflicts := filter(tr.attempts, func(a *classified) bool { return a.outcome == Exists || a.mismatch })
	// A body that was refused for another reason may have taken the key.
	if has(conflicts, Exists) || len(conflicts) == len(tr.attempts) && mistakenForAnother(e, tr) {
		reportFalseConflict(e, m, tr, 0)
	}
}

// overwrote reports that one body was acknowledged and lost its row to the other. That is certain if its answer was
// complete before any attempt of the other body began, or if its row was seen before the final retry.
func overwrote(e *evaluation, m moment, tr *trace, acknowledged *classified, applied, other bodySide) bool {
	if rows, known := e.rowsOf(atT1, tr, other.body); m == atT2 && known && len(rows) > 0 && acknowledged.End <= e.history.T1.At {
		return true
	}
	return len(applied.attempts) > 0 && !slices.ContainsFunc(applied.attempts, func(a *classified) bool {
		return a.Start < acknowledged.End
	})
}

// detailOverwrote is the detail of a finding that an acknowledged row was overwritten. Answers that name the lost row
// are explained by it.
const detailOverwrote = "overwrote"

// reportOverwritten reports an acknowledged row that now holds the other body.
func reportOverwritten(e *evaluation, m moment, tr *trace, applied, other bodySide) {
	e.report(m, tr, Finding{
		Kind: AlteredBody, Detail: detailOverwrote,
		Promise:  "What was acknowledged stays as it was acknowledged.",
		Expected: fmt.Sprintf("the row of the %s body, which was acknowledged first", other.body),
		Observed: fmt.Sprintf("the row now holds the %s body", applied.body),
	})
	if has(applied.attempts, Rejected) && !mayHaveEffect(applied.attempts) {
		reportMissing(e, m, []*trace{tr}, 0, 1)
	}
}

// checkUndetected checks an acknowledgement of the losing body, which may name the winner's row.
func checkUndetected(e *evaluation, m moment, tr *trace, a *classified, applied, other bodySide) {
	promise := e.terms.Contract
	switch {
	case e.comparesBodies() && applied.marker != other.marker && showsMarker(a, other.marker):
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "replay-echoes-request",
			Promise:  "A replay gives the recorded answer, not one built from the new request.",
			Contract: "replay.body: " + string(promise.Replay.Body),
			Expected: "the content of the body that took effect",
			Observed: fmt.Sprintf("the content of the %s body, which has no row", other.body),
		})
	case promise.Fingerprint.OnMismatch == contract.MismatchReject:
		e.report(m, tr, Finding{
			Kind: AlteredBody, Detail: "undetected",
			Contract: "fingerprint.on_mismatch: reject",
			Expected: fmt.Sprintf("a refusal of the %s body, status %v", other.body, promise.Fingerprint.Statuses),
			Observed: fmt.Sprintf("status %d with the answer of the other body", a.Status),
		})
	case promise.Fingerprint.OnMismatch == contract.MismatchReplayOriginal && e.comparesBodies():
		if first := withOutcome(applied.attempts, Acknowledged); len(first) > 0 {
			checkReplayBody(e, m, tr, []*classified{first[0], a})
		}
	}
}

// showsMarker reports that an answer contains a marker, or points at something named after it. It compares whole
// words of lower-case letters and digits, since one marker may begin like another.
func showsMarker(a *classified, marker string) bool {
	words := strings.FieldsFunc(a.Content+" "+headerValue(a.Header, "Location"), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	return slices.Contains(words, marker)
}

// checkStoredRejection checks that a rejection which the target stores keeps its key: another body must not get
// through with it.
func checkStoredRejection(e *evaluation, m moment, tr *trace, applied, other bodySide) {
	for _, r := range filter(other.attempts, func(a *classified) bool { return storedRejection(e, a) }) {
		if slices.ContainsFunc(applied.attempts, func(a *classified) bool { return a.Start < r.End }) {
			continue
		}
		reportRefusalForgotten(e, m, tr, r, applied.body, fmt.Sprintf("the row of the %s body", applied.body))
		return
	}
}

// reportRefusalForgotten reports that another body got through with a key that has stored a refusal.
func reportRefusalForgotten(e *evaluation, m moment, tr *trace, refusal *classified, body, observed string) {
	e.report(m, tr, Finding{
		Kind: AlteredBody, Detail: "refusal-forgotten",
		Promise:  "A stored rejection keeps its key.",
		Contract: "errors.store_4xx: true",
		Expected: fmt.Sprintf("a refusal of the %s body: the key had been answered with status %d", body, refusal.Status),
		Observed: observed,
	})
}

// storedRejection reports that the contract says an answer is stored under the key. What a target answers before it
// looks at the key is not stored.
func storedRejection(e *evaluation, a *classified) bool {
	stored := e.terms.Contract.Errors.Store4xx
	return stored != nil && *stored && a.outcome == Rejected && a.followup == nil && !refusedAtTheDoor(a) && !a.mismatch
}

// refusedAtTheDoor reports a status that targets answer with before they look at the key or at the body.
func refusedAtTheDoor(a *classified) bool {
	return slices.Contains([]int{401, 403, 404, 405, 407, 415}, a.Status)
}
