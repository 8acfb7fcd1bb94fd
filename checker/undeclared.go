package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// checkUndeclared looks at complete answers below 400 that no line of the contract names: what they mean is not known,
// so that nothing else is held against them. Where the contract promises a replay, a repetition of an acknowledged
// request may not be answered so, unless it gets the same body, which only lacks a name. Any other such answer leaves
// the verdict open. An answer that came while the first request ran may say so, unless the contract says how that looks.
func checkUndeclared(e *evaluation, m moment, tr *trace, g keyGroup) {
	for _, a := range filter(g, func(a *classified) bool { return e.terms.undeclared(a) }) {
		first := slices.IndexFunc(g, func(b *classified) bool { return b.outcome == Acknowledged && b.body == a.body && b.Key == a.Key })
		promised := e.terms.Contract.Level != contract.DedupOnly && first >= 0 && a.Key != "" && e.comparesBodies() &&
			(a.Start >= g[first].End || e.terms.Contract.InProgress.Mode != contract.InProgressUnspecified)
		var differs []Difference
		if promised && len(e.terms.remembered(g)) == 1 {
			differs, _ = compareBodies(e.terms.Contract.Replay, g[first].Attempt, a.Attempt)
		}
		if len(differs) == 0 {
			e.doubt("attempt %s of intent %s was answered %d, which no line of the contract names: if it means that the request is done, name it in contract.ack.statuses; "+
				"that it will be, in ack.accepted; that it exists, in existing; that the first request still runs, in in_progress; that it is refused, in fingerprint or missing_key", a.ID, tr.intent.ID, a.Status)
			continue
		}
		e.report(m, tr, Finding{
			Kind: UndeclaredAnswer, Contract: "ack: " + e.terms.Contract.Ack.Signature.String() + ", and no other line names this answer",
			Expected: fmt.Sprintf("the first answer again, which attempt %s got, or one that the contract names", g[first].ID),
			Observed: fmt.Sprintf("attempt %s got status %d with another body", a.ID, a.Status),
			Differs:  differs,
		})
	}
}

// Undeclared reports whether an answer is a whole one below 400 that bears no line of the contract.
func (t Terms) Undeclared(a history.Attempt) bool {
	return t.undeclared(&classified{Attempt: &a, outcome: t.Classify(a)})
}

// undeclared reports a whole answer below 400 that bears no line of the contract. One that asks its sender to sign in
// means the same everywhere.
func (t *Terms) undeclared(a *classified) bool {
	if a.outcome != Unknown || !a.Complete || a.Status < 200 || a.Status >= 400 || a.unauthenticated() {
		return false
	}
	said := answerOf(a.Attempt)
	return !slices.ContainsFunc(t.Contract.Meanings(), func(m contract.Meaning) bool { return said.bears(m.Signature) })
}
