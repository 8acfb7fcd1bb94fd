package checker

import (
	"math"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// classified is an attempt with its outcome. The attempt is the recorded one and is not
// changed.
type classified struct {
	*history.Attempt
	outcome        Outcome
	mismatch       bool              // it was told that the key was used with another body
	either         bool              // what it was told may mean "it exists already", whatever the outcome
	body           string            // Original, Altered or Invalid: what it says, however it is spelled
	identity       string            // of the created thing, as the answer names it; empty: it names none
	latest         history.Offset    // the target was done with it by then
	followup       *history.Followup // what its status resource said last; nil: it was not asked
	sessionExpired bool              // it was unauthenticated because its session had expired
	natural        string            // value of the natural key; empty: none is declared
	promised       bool              // it was accepted to be done later, and the rows tell what became of it
}

// respelled reports that the request was sent in another spelling.
func (a *classified) respelled() bool { return a.body != a.Body }

// headersRespelled reports that the headers are what was sent in another spelling.
func (a *classified) headersRespelled() bool {
	return slices.Contains([]string{history.Elsewhere, history.HeaderCase, history.TwoHeaders}, a.Body)
}

// refusedSender reports that a request from elsewhere was refused for who or where its sender is.
func (a *classified) refusedSender() bool {
	return a.Body == history.Elsewhere && slices.Contains([]int{401, 403, 406, 407, 421, 451}, a.Status)
}

// otherWay reports that the request was sent to another operation, which makes the same.
func (a *classified) otherWay() bool { return a.Body == history.OtherWay }

// is reports whether the attempt has one of the outcomes.
func (a *classified) is(outcomes ...Outcome) bool { return slices.Contains(outcomes, a.outcome) }

// trace is one intent with its attempts in the order of sending: what rules are about.
type trace struct {
	intent             history.Intent
	operation          *contract.Operation
	attempts           []*classified
	refused            []*classified // sent with the invalid body: the target refused all of them, and no other rule judges them
	strangers          []*classified // sent without the credential: no other rule judges them
	taken              *classified   // the first with an invalid body that the target did not refuse; nil: it refused all, or none was sent
	twin               bool          // shares its marker, so that a row cannot be told to be its own
	beforeRemoval      *trace        // the part of the trace before its row was removed; nil: none was
	removalUnconfirmed bool          // what that left for this part to find is not known
	endedByRemoval     bool          // it is the part before a removal: no snapshot has its rows
	rowsFound          int           // with endedByRemoval: how many rows there were
	chosen             []string      // members of the natural key in the first body, if its spelling may differ: the client may have chosen the name
	ignores            []contract.Ignored
}

// markerGroup is the traces that share a marker: one, unless the scenario plans twins.
type markerGroup struct {
	traces []*trace
}

// markerGroups arranges a history by marker, in the order of the intents.
func (t *Terms) markerGroups(h *history.History) []*markerGroup {
	var all []*markerGroup
	byMarker := make(map[string]*markerGroup, len(h.Intents))
	byIntent := make(map[string]*trace, len(h.Intents))
	// One allocation for all: a part has hundreds of traces, and a run a million.
	traces, classes := make([]trace, len(h.Intents)), make([]classified, len(h.Attempts))
	for n, i := range h.Intents {
		tr := &traces[n]
		tr.intent, tr.operation = i, t.named(i.Operation)
		tr.attempts = make([]*classified, 0, len(h.Attempts)/len(h.Intents)+1)
		if tr.ignores = t.Contract.NaturalKeyIgnores; len(tr.ignores) > 0 {
			tr.chosen = naturalMembers(t.Contract.NaturalKey, i.Bodies[history.Original])
		}
		byIntent[i.ID] = tr
		marker := i.Bodies[history.Original].Marker
		mg := byMarker[marker]
		if mg == nil {
			mg = &markerGroup{}
			byMarker[marker] = mg
			all = append(all, mg)
		}
		mg.traces = append(mg.traces, tr)
		if len(mg.traces) > 1 {
			tr.twin, mg.traces[0].twin = true, true
		}
	}
	followups := map[string]*history.Followup{}
	for i := range h.Followups {
		followups[h.Followups[i].Attempt] = &h.Followups[i]
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		if tr := byIntent[a.Intent]; tr != nil {
			j := &classes[i]
			*j = t.classifyAttempt(a, t.operationFor(tr.intent, a.Body), followups[a.ID])
			j.identity = tr.asChosen(j.identity)
			j.latest = doneBy(a, h)
			j.natural = t.naturalKey(tr.intent.Bodies[a.Body])
			if j.otherWay() || a.Body == history.OtherNaming {
				j.natural = t.naturalKey(tr.intent.Bodies[history.Original])
			}
			tr.attempts = append(tr.attempts, j)
		}
	}
	for _, mg := range all {
		setStrangersApart(mg.traces)
		setInvalidApart(t, mg.traces)
	}
	return all
}

// doneBy returns a moment by which the target was done with an attempt: after it, the
// attempt can write nothing any more. Where its answer was lost, that is when the target
// was seen to be quiet. Where it was never quiet, it is the end of time, so that no rule
// takes the attempt for over. In etcd's robustness tests an unanswered write gets an
// infinite end for the same reason.
func doneBy(a *history.Attempt, h *history.History) history.Offset {
	quiet := h.T1
	if a.Probe {
		quiet = h.T2
	}
	switch {
	case a.Complete, neverArrived(a):
		return a.End
	case a.Passage != nil && a.Passage.Answered != 0:
		return max(a.End, a.Passage.Answered)
	case quiet != nil:
		return max(a.End, quiet.At)
	default:
		return math.MaxInt64
	}
}

// classifyAttempt gives an attempt its outcome, and the identity that its answer names.
func (t *Terms) classifyAttempt(a *history.Attempt, o *contract.Operation, f *history.Followup) classified {
	said := answerOf(a)
	j := classified{
		Attempt: a, outcome: t.classify(a, said), mismatch: t.mismatch(a, said),
		either: said.bears(t.Contract.Existing.Signature), body: history.Meaning(a.Body),
	}
	switch j.outcome {
	case Acknowledged:
		j.identity = said.names(o.Identity)
	case Exists:
		j.identity = said.names(t.Contract.Existing.Identity)
	case Accepted:
		if t.Contract.Ack.Accepted.ByRows() { // a snapshot waits until it is to be done
			j.outcome, j.promised, j.identity = Acknowledged, true, said.names(o.Identity)
			break
		}
		t.resolve(&j, said, o, f)
	}
	return j
}

// until returns the trace as it stood at a moment: the first snapshot does not know the final retry.
func (tr *trace) until(m moment) *trace {
	if m == atT2 {
		return tr
	}
	until := *tr
	until.attempts = filter(tr.attempts, func(a *classified) bool { return !a.Probe })
	return &until
}

// filter returns what is wanted of some things, in their order; nil: nothing is. Where all are, it is what was given,
// which must not be changed.
func filter[T any](some []T, wanted func(T) bool) []T {
	first := slices.IndexFunc(some, func(one T) bool { return !wanted(one) })
	switch {
	case len(some) == 0:
		return nil
	case first < 0:
		return slices.Clip(some)
	}
	kept := some[:first:first]
	for i := first + 1; i < len(some); i++ {
		if !wanted(some[i]) {
			continue
		}
		if len(kept) == cap(kept) {
			kept = slices.Grow(kept, len(some)-i)
		}
		kept = append(kept, some[i])
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// withOutcome returns the attempts with an outcome.
func withOutcome(attempts []*classified, o Outcome) []*classified {
	return filter(attempts, func(a *classified) bool { return a.outcome == o })
}

// withBody returns the attempts with a body, however it is spelled.
func withBody(attempts []*classified, body string) []*classified {
	return filter(attempts, func(a *classified) bool { return a.body == body })
}

// has reports whether any attempt has one of the outcomes. It is the innermost loop of
// most rules, and makes no slices.
func has(attempts []*classified, outcomes ...Outcome) bool {
	for _, a := range attempts {
		for _, o := range outcomes {
			if a.outcome == o {
				return true
			}
		}
	}
	return false
}

// onlyDeclined reports that an intent was declined, and never done.
func onlyDeclined(tr *trace) bool {
	return has(tr.attempts, Declined) && !has(tr.attempts, Acknowledged, Accepted, Exists)
}

// mayHaveEffect reports whether any attempt can have been executed. A declined one can: it
// may have left a row that says so.
func mayHaveEffect(attempts []*classified) bool {
	return has(attempts, Acknowledged, Accepted, Unknown, Declined)
}
