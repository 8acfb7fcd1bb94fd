package checker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// setInvalidApart takes the attempts with the invalid body out of traces that share a marker, so that other rules see what
// came of the corrected body. Where the target did not refuse the invalid body, it is another body: then it is judged as
// the altered one.
func setInvalidApart(t *Terms, traces []*trace) {
	for _, tr := range traces {
		for _, a := range withBody(tr.attempts, history.Invalid) {
			if tr.taken == nil && !a.is(Rejected, Throttled, InProgress, NotSent) {
				tr.taken = a
			}
		}
	}
	taken := slices.ContainsFunc(traces, func(tr *trace) bool { return tr.taken != nil })
	for _, tr := range traces {
		if taken {
			tr.takeInvalidForAltered()
			continue
		}
		tr.refused = withBody(tr.attempts, history.Invalid)
		tr.attempts = filter(tr.attempts, func(a *classified) bool { return a.body != history.Invalid })
		for _, a := range tr.attempts {
			tellMismatch(t, tr, a)
		}
	}
}

// takeInvalidForAltered renames the invalid body. The recorded attempt is copied first: a history is not changed by
// judging it.
func (tr *trace) takeInvalidForAltered() {
	b, sent := tr.intent.Bodies[history.Invalid]
	if !sent {
		return
	}
	tr.intent.Bodies = maps.Clone(tr.intent.Bodies)
	delete(tr.intent.Bodies, history.Invalid)
	tr.intent.Bodies[history.Altered] = b
	for _, a := range withBody(tr.attempts, history.Invalid) {
		renamed := *a.Attempt
		renamed.Body = history.Altered
		a.Attempt, a.body = &renamed, history.Altered
	}
}

// tellMismatch decides between "in progress" or "exists already" and "mismatch" where one answer means both: to a body
// that corrects a refused one, it is a mismatch.
func tellMismatch(t *Terms, tr *trace, a *classified) {
	if a.is(InProgress, Exists) && t.corrects(tr, a) && answerOf(a.Attempt).bears(t.Contract.Fingerprint.Signature) {
		a.outcome, a.mismatch, a.identity = Rejected, true, ""
	}
}

// corrects reports that an attempt came under the key, or the natural key, of an invalid body that may have come before it.
func (t *Terms) corrects(tr *trace, a *classified) bool {
	return slices.ContainsFunc(tr.refused, func(r *classified) bool {
		return r.is(Rejected, InProgress) && t.sameRecord(r, a) && r.Start < a.End
	})
}

// sameRecord reports that two attempts have one key, or one natural key where there is one.
func (t *Terms) sameRecord(a, b *classified) bool {
	if len(t.Contract.NaturalKey) > 0 {
		return t.joined(a, b)
	}
	return a.Key != "" && a.Key == b.Key
}

// after reports that an attempt began after the answer to another of the same key, or of the same natural key. Then
// the record of the first must have been made by the time the target looked for it.
func after(t *Terms, r, a *classified) bool { return t.sameRecord(r, a) && a.Start >= r.End }

// refusals returns the refusals of the invalid body by its content: not before any handling, and not by a status resource.
func (tr *trace) refusals() []*classified {
	return filter(tr.refused, func(a *classified) bool {
		return a.outcome == Rejected && a.followup == nil && !refusedAtTheDoor(a) && a.Status >= 400 && a.Status < 500
	})
}

// checkRefusals checks what the refusal of an invalid body leaves behind: no row of it, and a key that the corrected body
// gets, or does not get, as the contract says.
func checkRefusals(e *evaluation, m moment, traces []*trace) {
	for _, tr := range traces {
		if len(tr.refused) == 0 {
			continue
		}
		checkRefusedRow(e, m, tr)
		stored := e.terms.Contract.Errors.Store4xx
		switch refusals := tr.refusals(); {
		case stored == nil || len(refusals) == 0:
		case *stored:
			checkRefusedAgain(e, m, tr, refusals)
			checkRefusalKept(e, m, tr, refusals[0])
		case m == atT2:
			checkRefusalForgotten(e, m, tr, refusals[0])
		}
	}
}

// checkRefusedRow checks that a refused body has no row. Those of twins cannot be told apart: the first stands for all.
func checkRefusedRow(e *evaluation, m moment, tr *trace) {
	rows, _ := e.rowsOf(m, tr, history.Invalid)
	switch {
	case len(rows) == 0:
		return
	case !has(tr.refused, Rejected, Throttled, InProgress):
		e.doubt("intent %s has a row of its invalid body although no request with it reached the target: another client writes its marker", tr.intent.ID)
		return
	}
	e.report(m, tr, Finding{
		Kind: PhantomRow, Detail: "rejected-yet-applied",
		Promise:  "What was rejected has no effect.",
		Expected: "no row of the invalid body: all its attempts were rejected",
		Observed: count(len(rows), "row") + " of it",
	})
}

// checkRefusedAgain compares the refusals of one body where the contract says that the first of them is stored.
func checkRefusedAgain(e *evaluation, m moment, tr *trace, refusals []*classified) {
	first := refusals[0]
	again := filter(refusals[1:], func(a *classified) bool {
		return a.Key != "" && after(&e.terms, first, a) && !forgottenSince(e, first, a)
	})
	if len(again) == 0 || e.terms.Contract.Level == contract.DedupOnly {
		return
	}
	if i := slices.IndexFunc(again, func(a *classified) bool { return a.Status != first.Status }); i >= 0 {
		reportContradiction(e, m, tr, []*classified{first}, again[i:i+1], "Once rejected, a repetition is rejected again.", "errors.store_4xx: true")
		return
	}
	same := append([]*classified{first}, again...)
	checkReplayBody(e, m, tr, same)
	checkReplayHeaders(e, m, tr, same)
}

// checkRefusalKept checks that the corrected body does not get through with a key that has stored a refusal.
func checkRefusalKept(e *evaluation, m moment, tr *trace, refusal *classified) {
	through := filter(tr.attempts, func(a *classified) bool { return a.is(Acknowledged, Accepted, Declined, Unknown) })
	early := func(a *classified) bool { return !after(&e.terms, refusal, a) || forgottenSince(e, refusal, a) }
	if len(through) == 0 || slices.ContainsFunc(through, early) {
		return
	}
	rows, _ := e.rowsOf(m, tr, history.Original)
	told := slices.IndexFunc(through, func(a *classified) bool { return a.outcome != Unknown })
	switch {
	case len(rows) > 0:
		reportRefusalForgotten(e, m, tr, refusal, "corrected", "the row of the corrected body")
	case told >= 0:
		reportRefusalForgotten(e, m, tr, refusal, "corrected", fmt.Sprintf("status %d to attempt %s with the corrected body", through[told].Status, through[told].ID))
	}
}

// checkRefusalForgotten checks that a corrected body gets through with a key whose refusal is not to be stored.
func checkRefusalForgotten(e *evaluation, m moment, tr *trace, refusal *classified) {
	corrected := filter(tr.attempts, func(a *classified) bool { return a.is(Rejected) && after(&e.terms, refusal, a) })
	rightly := func(a *classified) bool {
		return refusedAtTheDoor(a) || a.followup != nil || forgottenSince(e, refusal, a)
	}
	if len(corrected) == 0 || slices.ContainsFunc(corrected, rightly) || has(tr.attempts, Acknowledged, Accepted, Exists, Declined, Unknown, InProgress) {
		return
	}
	last := corrected[len(corrected)-1]
	e.report(m, tr, Finding{
		Kind: StoredError, Detail: "refusal",
		Promise:  "A refusal leaves its key free for the corrected body.",
		Contract: "errors.store_4xx: false",
		Expected: fmt.Sprintf("an acknowledgement of the corrected body: what was refused with status %d was another one", refusal.Status),
		Observed: fmt.Sprintf("status %d to each of its attempts under that key", last.Status),
	})
}

// forgottenSince reports that an attempt may have come after the target forgot the key of an earlier one.
func forgottenSince(e *evaluation, first, then *classified) bool {
	after := history.Offset(e.terms.Contract.Expiry.After)
	return after > 0 && then.latest-first.Start >= after
}

// corrected reports that the invalid body was refused, and that the corrected one then reached the target with its key.
func corrected(e *evaluation, _ *markerGroup, tr *trace) bool {
	return slices.ContainsFunc(tr.refusals(), func(r *classified) bool {
		return reached(tr.attempts, func(a *classified) bool { return a.body == history.Original && after(&e.terms, r, a) })
	})
}

// measureTaken notes the first invalid body that the target did not refuse.
func measureTaken(e *evaluation, t *tally) {
	n := 0
	for tr := range e.traces() {
		if n++; tr.taken != nil && tr.taken.Complete {
			t.taken.add(placedText{place{part: e.part, number: n}, fmt.Sprintf("attempt %s of intent %s was answered %d (%s)", tr.taken.ID, tr.intent.ID, tr.taken.Status, tr.taken.outcome)})
		}
	}
}

// notRefused says why nothing was corrected: the target did not refuse what the target file calls invalid.
func (w *whole) notRefused(exercise []Exercise) []string {
	missing := slices.ContainsFunc(exercise, func(x Exercise) bool {
		return x.Proof == string(proofs.Corrected) && x.Held < x.Needed
	})
	if !missing || w.sum.taken.text == "" {
		return nil
	}
	return []string{"the target did not refuse the invalid body: " + w.sum.taken.text + ": let invalid, of the operation, make a body that the target refuses with a 4xx"}
}
