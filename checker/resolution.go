package checker

import (
	"slices"
	"strconv"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Settled reports whether an answer to the final retry is final: the client knows the state of its intent.
func (t Terms) Settled(a history.Attempt) bool {
	return slices.Contains([]Outcome{Acknowledged, Accepted, Exists, Rejected, Declined}, t.Classify(a))
}

// Unclear reports whether the last answer to the final retry means something only beside the answer to a fresh key:
// the target may answer no request, or not this key. A server error that the contract lets it store is clear.
func (t Terms) Unclear(a history.Attempt) bool {
	stored := t.Contract.Errors.Store5xx
	switch t.Classify(a) {
	case Throttled:
		return a.Complete
	case Unknown:
		return a.Complete && (a.Status < 500 || stored == nil || !*stored)
	default:
		return false
	}
}

// Keyless reports whether repeating a request without a key is no new intent.
func (t Terms) Keyless() bool { return len(t.Contract.NaturalKey) > 0 }

// checkResolution checks that retrying with backoff comes to a final answer (I8), for each key and body that the
// final retry sent.
func checkResolution(e *evaluation, tr *trace) {
	if tr.intent.Fresh {
		return
	}
	type question struct{ key, body string }
	asked := map[question][]*classified{}
	var order []question
	for _, a := range tr.attempts {
		if !a.Probe || a.ErrorKind == history.Interrupted {
			continue
		}
		q := question{a.Key, a.body}
		if len(asked[q]) == 0 {
			order = append(order, q)
		}
		asked[q] = append(asked[q], a)
	}
	for _, q := range order {
		tries := asked[q]
		switch a, early := tries[len(tries)-1], tooEarly(tries); {
		case a.sessionExpired || resolved(e, tr, a): // an expired session was never answered, and the verdict says so
		case a.is(NotSent, Throttled) && !refusedAlone(e, tries):
			e.doubt("the final retry of intent %s was rejected at the entry: attempt %s was %s", tr.intent.ID, a.ID, a.outcome)
		case mayHoldALease(e, tries):
			e.doubt("the key of intent %s was still in progress %s after the first final retry, and the contract does not say how long a request that died may block it: contract.lease does",
				tr.intent.ID, (a.End - tries[0].Start).Duration().Round(time.Second))
		case askedWhileBusy(e, tries):
			e.doubt("the final retry of intent %s got no answer, while the target had more to do than it got done, and was not sent again", tr.intent.ID)
		case failsForItsKey(e, tr): // a warning says so
		case e.found.has(UndeclaredAnswer, "", tr) && e.terms.undeclared(a): // that is the same defect
		case early != nil:
			e.doubt("attempt %s asked for more time than the final retry of intent %s has: contract.lease gives it more", early.ID, tr.intent.ID)
		default:
			reportUnresolved(e, tr, tries)
		}
	}
}

// askedWhileBusy reports that a key and body were asked for once, and waited until the deadline, while the target had more to do than it
// got done.
func askedWhileBusy(e *evaluation, tries []*classified) bool {
	return len(tries) == 1 && slices.ContainsFunc(e.asking().hanging, func(h *hanging) bool { return h.attempt == tries[0].ID && h.busy })
}

// mayHoldALease reports that a key may be blocked by an execution that died, for a time that the contract does not name, and that no retry
// waited for as long as that usually is.
func mayHoldALease(e *evaluation, tries []*classified) bool {
	last := tries[len(tries)-1]
	return e.disturbed() && e.terms.Contract.Lease == 0 && last.is(InProgress) && last.End-tries[0].Start < history.Offset(contract.UsualLease)
}

// tooEarly returns the first retry that was told when to come again, where no later one waited that long; nil: one
// did, or none was told.
func tooEarly(tries []*classified) *classified {
	for _, a := range tries {
		seconds, err := strconv.ParseUint(headerValue(a.Header, "Retry-After"), 10, 31)
		if err != nil {
			continue
		}
		if tries[len(tries)-1].Start-a.End >= history.Offset(seconds)*history.Offset(time.Second) {
			return nil
		}
		return a
	}
	return nil
}

// resolved reports that the last answer to the final retry is final.
func resolved(e *evaluation, tr *trace, last *classified) bool {
	switch last.outcome {
	case Acknowledged, Exists, Accepted, Declined: // what was accepted and never done is judged by its status resource
		return true
	case Rejected:
		return last.either || rejectionIsFinal(e, tr, last)
	case Unknown:
		return storedError(e, tr, last)
	case InProgress:
		return last.either // nothing tells which
	default:
		return false
	}
}

// storedError reports that a server error is what the target stored under the key. It did not store an error if it
// acknowledged the request before.
func storedError(e *evaluation, tr *trace, last *classified) bool {
	stored := e.terms.Contract.Errors.Store5xx
	return last.Complete && last.Status >= 500 && stored != nil && *stored && !has(answersTo(tr, last), Acknowledged, Exists)
}

// rejectionIsFinal reports that a rejection leaves the client informed: this body had no effect, an earlier answer
// told the client of it, or the client comes too late by the contract. I11 judges a rejection after an
// acknowledgement.
func rejectionIsFinal(e *evaluation, tr *trace, last *classified) bool {
	if has(withBody(tr.attempts, last.body), Acknowledged, Exists) || mayBeForgotten(e, tr, last) {
		return true
	}
	rows, _ := e.rowsOf(atT2, tr, last.body)
	return len(rows) == 0 || tr.twin
}
