package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
)

// checkFalseConflicts reports new intents that were rejected as repetitions of something else.
func checkFalseConflicts(e *evaluation, m moment, traces []*trace, rows int) {
	if rows >= len(traces) {
		return
	}
	for _, tr := range traces {
		if !mayHaveEffect(tr.attempts) && !mayBeRejected(e, tr) && (mistakenForAnother(e, tr) || rejectedBesideTwin(e, tr, traces) || rejectedBesideNeighbour(e, tr) || rejectedAfterRemoval(tr)) {
			reportFalseConflict(e, m, tr, rows)
		}
	}
}

// mayBeRejected reports that a rejection may be right: another intent used the same key, and the contract does not
// keep such keys apart.
func mayBeRejected(e *evaluation, tr *trace) bool {
	scope := e.terms.Contract.Scope
	return slices.ContainsFunc(e.sharing(tr), func(other *trace) bool {
		return other.intent.Principal != tr.intent.Principal && scope.Principal != contract.ScopeSeparate ||
			other.intent.Operation != tr.intent.Operation && scope.Operation != contract.ScopeSeparate ||
			otherPath(tr, other) && scope.Path != contract.ScopeSeparate
	})
}

// rejectedBesideNeighbour reports that of two intents with one key, which the contract keeps apart, the other got
// through and this one was rejected.
func rejectedBesideNeighbour(e *evaluation, tr *trace) bool {
	return rejectedAtOnce(tr) && slices.ContainsFunc(e.sharing(tr), func(other *trace) bool { return mayHaveEffect(other.attempts) })
}

// rejectedAtOnce reports that an intent was rejected without having been executed: nothing was in progress, and no
// accepted work failed.
func rejectedAtOnce(tr *trace) bool {
	return !has(tr.attempts, InProgress) &&
		slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.outcome == Rejected && a.followup == nil })
}

// rejectedBesideTwin reports that one of two equal requests got through and this one was rejected after it had come, and that no
// request was rejected alike which equals no earlier one.
func rejectedBesideTwin(e *evaluation, tr *trace, traces []*trace) bool {
	if !rejectedAtOnce(tr) || !slices.ContainsFunc(traces, func(twin *trace) bool { return mayHaveEffect(twin.attempts) && begunBefore(twin, tr) }) {
		return false
	}
	status := rejection(tr).Status
	if other := e.asking().alone[status]; other != "" {
		e.doubt("intent %s was refused with %d beside another with the same body, and so was %s, which equals no earlier one: if the target declines some by business, contract.errors.declined has to name the answer", tr.intent.ID, status, other)
		return false
	}
	return true
}

// begunBefore reports that a twin was sent before an intent was rejected.
func begunBefore(twin, tr *trace) bool {
	return twin != tr && len(twin.attempts) > 0 && twin.attempts[0].Start < rejection(tr).End
}

// rejectedAlone reports that an intent was rejected that can be mistaken for no other: none with the same body or a key like its
// own was sent before.
func rejectedAlone(tr *trace, traces []*trace) bool {
	return tr.intent.Kin == "" && rejectedAtOnce(tr) && !mayHaveEffect(tr.attempts) &&
		!slices.ContainsFunc(traces, func(twin *trace) bool { return begunBefore(twin, tr) })
}

// rejection is the first rejection of an intent, which has one.
func rejection(tr *trace) *classified {
	return tr.attempts[slices.IndexFunc(tr.attempts, func(a *classified) bool { return a.outcome == Rejected })]
}

// reportFalseConflict reports a new intent that was rejected, with the line of the contract that keeps its key apart.
func reportFalseConflict(e *evaluation, m moment, tr *trace, rows int) {
	f := Finding{
		Kind:     FalseConflict,
		Expected: "an acknowledgement: " + whyNew(tr),
		Observed: "a refusal, and " + count(rows, "row"),
	}
	if rows > 0 {
		f.Observed += " for more requests with this body"
	}
	if shared := e.sharing(tr); len(shared) > 0 {
		f.Contract, f.Expected = "scope.operation: separate", "an acknowledgement: this operation had not seen this key before"
		if who := tr.intent.Principal; who != shared[0].intent.Principal {
			f.Contract, f.Expected = "scope.principal: separate", fmt.Sprintf("an acknowledgement: %s had not used this key before", orNothing(who))
		}
		if otherPath(tr, shared[0]) {
			f.Contract, f.Expected = "scope.path: separate", "an acknowledgement: this path had not seen this key before"
		}
	}
	e.report(m, tr, f)
}

// whyNew says why an intent is a new one.
func whyNew(tr *trace) string {
	if tr.beforeRemoval != nil {
		return "the row that was made before is removed"
	}
	return "nothing was sent with this key before"
}

// mistakenForAnother reports that an intent was rejected as the repetition of something else. To a body that corrects a
// refused one, a mismatch is no mistake.
func mistakenForAnother(e *evaluation, tr *trace) bool {
	return has(tr.attempts, Exists) ||
		slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.mismatch && !e.terms.corrects(tr, a) }) && !mayRejectKey(e, tr)
}

// mayRejectKey reports that an intent may have been rejected for the form of its key, which resembles its neighbours'
// keys on purpose. Where the contract knows a mismatch by its status alone, both rejections look the same. The intent
// was surely mistaken for a neighbour only where a neighbour got through with a key of that form.
func mayRejectKey(e *evaluation, tr *trace) bool {
	if e.terms.Contract.Fingerprint.Narrowed() {
		return false
	}
	resembles, beside := false, false
	for _, other := range e.neighbours[tr.intent.Kin] {
		through := mayHaveEffect(other.attempts)
		switch {
		case other.intent.ID == tr.intent.ID || !meet(tr, other, resemblingKeys):
			continue
		case meet(tr, other, equalKeys), through && meet(tr, other, alikeKeys):
			return false
		}
		resembles, beside = true, beside || through
	}
	if beside {
		e.doubt("intent %s was refused beside a neighbour with a key of another form: it may have been refused for its key, which has the same status as a mismatch: fingerprint.where tells them apart", tr.intent.ID)
	}
	return resembles
}
