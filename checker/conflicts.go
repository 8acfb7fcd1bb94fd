package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
)

// falseConflicts reports fresh intents that were refused as repetitions of something else.
func checkFalseConflicts(e *evaluation, m moment, traces []*trace, rows int) {
	if rows >= len(traces) {
		return
	}
	for _, tr := range traces {
		if !mayHaveEffect(tr.attempts) && !mayBeRejected(e, tr) && (mistakenForAnother(e, tr) || rejectedBesideTwin(tr, traces) || rejectedBesideNeighbour(e, tr) || rejectedAfterRemoval(tr)) {
			reportFalseConflict(e, m, tr)
		}
	}
}

// excused reports that a refusal may be right, because somebody else used the intent's key and the
// contract does not say that keys are kept apart.
func mayBeRejected(e *evaluation, tr *trace) bool {
	scope := e.terms.Contract.Scope
	return slices.ContainsFunc(e.sharing(tr), func(other *trace) bool {
		return other.intent.Principal != tr.intent.Principal && scope.Principal != contract.ScopeSeparate ||
			other.intent.Operation != tr.intent.Operation && scope.Operation != contract.ScopeSeparate
	})
}

// refusedBesideKin reports that of two intents that the contract keeps apart in spite of their one key,
// one got through and this one was refused.
func rejectedBesideNeighbour(e *evaluation, tr *trace) bool {
	return rejectedAtOnce(tr) && slices.ContainsFunc(e.sharing(tr), func(other *trace) bool { return mayHaveEffect(other.attempts) })
}

// refusedAtOnce reports that an intent was refused, and not because something was tried and failed.
func rejectedAtOnce(tr *trace) bool {
	return !has(tr.attempts, InProgress) &&
		slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.outcome == Rejected && a.followup == nil })
}

// refusedBesideTwin reports that of two equal requests one got through and this one was refused.
func rejectedBesideTwin(tr *trace, traces []*trace) bool {
	return rejectedAtOnce(tr) && slices.ContainsFunc(traces, func(twin *trace) bool { return mayHaveEffect(twin.attempts) })
}

func reportFalseConflict(e *evaluation, m moment, tr *trace) {
	f := Finding{
		Kind:     FalseConflict,
		Expected: "an acknowledgement: " + whyNew(tr),
		Observed: "a refusal, and no row",
	}
	if shared := e.sharing(tr); len(shared) > 0 {
		f.Contract, f.Expected = "scope.operation: separate", "an acknowledgement: at this operation nothing with this key was wanted before"
		if who := tr.intent.Principal; who != shared[0].intent.Principal {
			f.Contract, f.Expected = "scope.principal: separate", fmt.Sprintf("an acknowledgement: %s had not used this key before", orNothing(who))
		}
	}
	e.report(m, tr, f)
}

// anew says why a wish is a new one.
func whyNew(tr *trace) string {
	if tr.beforeRemoval != nil {
		return "what was made before is gone"
	}
	return "nothing with this key was wanted before"
}

// mistaken reports that an intent was refused as the repetition of something else.
func mistakenForAnother(e *evaluation, tr *trace) bool {
	return has(tr.attempts, Exists) ||
		slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.mismatch }) && !mayRejectKey(e, tr)
}

// mayRefuseKey reports that an intent may have been refused for the form of its key, which is made to resemble its
// neighbours' keys. Where a mismatch is known by its status alone, the two refusals look the same: it was mistaken for
// a neighbour surely only where one got through with a key like that.
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
