package checker

import (
	"fmt"
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
