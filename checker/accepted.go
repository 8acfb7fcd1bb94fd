package checker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Monitor returns where to ask what became of an attempt that was accepted (RFC 9110, section 15.3.3);
// empty: nothing is to come, or the answer does not say.
func (t Terms) Monitor(a history.Attempt) string {
	where := t.Contract.Ack.Accepted.Monitor
	switch {
	case t.Classify(a) != Accepted:
		return ""
	case strings.HasPrefix(where, "/"):
		return answerOf(&a).at(where)
	default:
		return headerValue(a.Header, where)
	}
}

// Followed reports whether a status resource said that the request is done, or that it failed.
func (t Terms) Followed(f history.Followup) bool {
	accepted, said := t.Contract.Ack.Accepted, lastAnswer(f)
	return f.Complete && (said.bears(accepted.Done) || said.bears(accepted.Failed))
}

// Done returns whether a status resource says that a request is done, and what it names as the created
// thing; empty: nothing.
func (t Terms) Done(f history.Followup) (identity string, done bool) {
	said := lastAnswer(f)
	return said.at(t.Contract.Ack.Accepted.Identity), f.Complete && said.bears(t.Contract.Ack.Accepted.Done)
}

// lastAnswer returns the last answer of a status resource.
func lastAnswer(f history.Followup) *answer {
	return answerOf(&history.Attempt{Status: f.Status, Content: f.Content})
}

// resourceGone reports that the status resource does not exist any more.
func resourceGone(f history.Followup) bool {
	return f.Complete && contract.SaysAbsent(f.Status)
}

// resolve gives an accepted attempt the outcome that its status resource told: acknowledged, rejected, or still
// accepted.
func (t *Terms) resolve(j *classified, first *answer, o *contract.Operation, f *history.Followup) {
	accepted := t.Contract.Ack.Accepted
	j.followup = f
	if f == nil || !f.Complete {
		return
	}
	switch last := lastAnswer(*f); {
	case last.bears(accepted.Done):
		j.outcome, j.identity = Acknowledged, last.at(accepted.Identity)
		if accepted.Identity == "" {
			j.identity = first.names(o.Identity)
		}
	case last.bears(accepted.Failed):
		j.outcome = Rejected
	}
}

// checkAccepted checks that every accepted request comes to an end that its status resource tells: decision table 1,
// row 12. It runs when the contract's time for that is over.
func checkAccepted(e *evaluation, tr *trace) {
	for _, a := range withOutcome(tr.attempts, Accepted) {
		if text := whySilent(a.followup, e.terms.Contract.Throttled); text != "" {
			e.doubt("what became of attempt %s of intent %s is not known: %s", a.ID, tr.intent.ID, text)
			continue
		}
		rows, known := e.rowsOf(atT2, tr, a.body)
		if known && len(rows) < 2 { // more are a duplicate, which explains it
			reportUnended(e, tr, a, len(rows))
		}
	}
}

// whySilent says why nothing is known from a status resource; empty: it answered.
func whySilent(f *history.Followup, throttled contract.Signature) string {
	switch {
	case f == nil:
		return "its answer names no status resource, or it was never asked"
	case !f.Complete:
		return "its status resource gave no answer: " + f.Error
	case f.Status == tooManyRequests, f.Status == http.StatusUnauthorized, lastAnswer(*f).bears(throttled):
		return fmt.Sprintf("its status resource refused to answer: status %d", f.Status)
	default:
		return ""
	}
}

// reportUnended reports an attempt whose status resource says neither that it is done nor that it failed.
func reportUnended(e *evaluation, tr *trace, a *classified, rows int) {
	f := Finding{
		Contract: "ack.accepted.within: " + e.terms.Contract.Ack.Accepted.Within.String(),
		Expected: "its status resource says by then that it is done, or that it failed",
		Observed: fmt.Sprintf("attempt %s was accepted, its status resource answers %d, and there is %s", a.ID, a.followup.Status, count(rows, "row")),
	}
	switch gone := resourceGone(*a.followup); {
	case !gone && rows == 0:
		f.Kind, f.Detail, f.Promise = StuckKey, "accepted", "An accepted request comes to an end."
	case !gone:
		f.Kind, f.Detail, f.Promise = RefusedThoughDone, "accepted", "The client of an accepted request can learn that it is done."
	case rows == 0:
		f.Kind, f.Detail, f.Promise = LostWrite, "accepted", "An accepted request is done, or its client can learn that it is not."
	default:
		f.Kind, f.Detail, f.Promise = ReplayMismatch, "status-resource", "A status resource tells what became of the request."
	}
	e.report(atT2, tr, f)
}

// Owed returns the markers of which a snapshot holds fewer rows than clients were told of, or of whose rows fewer effects reached
// their sinks than belong to them. What was removed in between
// is owed to no client.
func (t Terms) Owed(h *history.History, s history.Snapshot) []string {
	removed := map[string]bool{}
	for _, r := range h.Removals {
		removed[r.Intent] = true
	}
	var owed []string
	sent, added := messagesOf(t, h, s), additionsOf(t, h)
	for _, mg := range t.markerGroups(h) {
		first, rows := mg.traces[0].intent, 0
		markers := markersOf(first)
		for _, marker := range markers {
			rows += len(added[marker].apart(s.Rows[marker]))
		}
		lacking := rows < t.boundsOf(mg.traces).lower || owedEffects(&t, sent, s, mg.traces[0].operation, markers)
		if lacking && !removed[first.ID] {
			owed = append(owed, first.Bodies[history.Original].Marker)
		}
	}
	return owed
}

// markersOf returns the markers of an intent's bodies, each once.
func markersOf(i history.Intent) []string {
	var markers []string
	for _, b := range i.Bodies {
		markers = append(markers, b.Marker)
	}
	slices.Sort(markers)
	return slices.Compact(markers)
}
