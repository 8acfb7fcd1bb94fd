package checker

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// setStrangersApart takes the attempts without the credential out of traces, so that other rules see what was sent with it.
func setStrangersApart(traces []*trace) {
	for _, tr := range traces {
		tr.strangers = filter(tr.attempts, func(a *classified) bool { return a.Body == history.NoCredential })
		if len(tr.strangers) > 0 {
			tr.attempts = filter(tr.attempts, func(a *classified) bool { return a.Body != history.NoCredential })
		}
	}
}

// checkStrangers checks that who does not say who he is, and was refused before for that, is not told of what was created
// since (I7). What a target does for everybody proves nothing: there was no refusal then.
func checkStrangers(e *evaluation, m moment, traces []*trace) {
	if m != atT1 {
		return
	}
	for _, tr := range traces {
		refused, told := tr.turnedAway()
		i := slices.IndexFunc(told, func(a *classified) bool {
			return a.is(Acknowledged, Accepted) || a.outcome == Exists && a.identity != ""
		})
		if refused == nil || i < 0 {
			continue
		}
		e.report(m, tr, Finding{
			Kind: Leak, Detail: history.NoCredential,
			Promise:  "Without the credential, nobody is told what another has created.",
			Contract: "request.credential",
			Expected: fmt.Sprintf("a refusal, as status %d of attempt %s was", refused.Status, refused.ID),
			Observed: fmt.Sprintf("attempt %s, without the credential, was answered with status %d (%s)", told[i].ID, told[i].Status, told[i].outcome),
		})
	}
}

// turnedAway returns the first refusal of a request without the credential that came before the intent was acknowledged,
// and the requests without it that reached the target afterwards; nil: there is none.
func (tr *trace) turnedAway() (refused *classified, told []*classified) {
	done := slices.IndexFunc(tr.attempts, func(a *classified) bool { return a.outcome == Acknowledged })
	if done < 0 {
		return nil, nil
	}
	for _, a := range tr.strangers {
		switch {
		case (a.outcome == Rejected || a.unauthenticated()) && a.End <= tr.attempts[done].Start && refused == nil:
			refused = a
		case a.Start >= tr.attempts[done].End && arrived(a):
			told = append(told, a)
		}
	}
	return refused, told
}

// turnedAway is the rule that a request without the credential was refused, and another one came when there was something
// to tell of.
func turnedAway(_ *evaluation, _ *markerGroup, tr *trace) bool {
	refused, told := tr.turnedAway()
	return refused != nil && len(told) > 0
}

// TurnedAway reports that the target took the sender of a request for nobody it knows, or for nobody who may (RFC 9110, sections 15.5.2 and 15.5.4).
func TurnedAway(t Terms, a history.Attempt) bool {
	return t.Unauthenticated(a) || a.Complete && a.Status == http.StatusForbidden
}

// checkTurnedAway checks that a refusal of somebody without the credential does not stay in the way of who has it: its key is refused to the end,
// while fresh keys get through before and after that.
func checkTurnedAway(e *evaluation, m moment, traces []*trace) {
	if m != atT2 {
		return
	}
	for _, tr := range traces {
		if tr.intent.Fresh || len(tr.strangers) == 0 || len(tr.attempts) == 0 {
			continue
		}
		away := func(a *classified) bool { return TurnedAway(e.terms, *a.Attempt) }
		first := slices.IndexFunc(tr.strangers, func(a *classified) bool { return away(a) && a.End <= tr.attempts[0].Start })
		tries := filter(tr.attempts, func(a *classified) bool { return a.Probe })
		rows, known := e.rowCount(m, tr)
		if first < 0 || len(tries) == 0 || !known || rows > 0 || len(filter(tr.attempts, away)) < len(tr.attempts) || !refusedAlone(e, tries) {
			continue
		}
		last := tries[len(tries)-1]
		e.report(m, tr, Finding{
			Kind: StoredError, Detail: history.NoCredential,
			Promise:  "What somebody without the credential was refused does not stay in the way of the client.",
			Contract: "request.credential",
			Expected: fmt.Sprintf("an acknowledgement, as plain creates with fresh keys got: status %d of attempt %s was for somebody else", tr.strangers[first].Status, tr.strangers[first].ID),
			Observed: fmt.Sprintf("status %d to all %d attempts with the credential under that key", last.Status, len(tr.attempts)),
		})
	}
}
