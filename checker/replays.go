package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// checkReplays compares the answers to one key and one body: statuses, bodies and headers,
// each by the line of the contract that is about it. There is no "right" answer but the
// first one.
func checkReplays(e *evaluation, m moment, tr *trace, g keyGroup, record []*classified) {
	acknowledged := withOutcome(record, Acknowledged)
	checkContradictions(e, m, tr, record)
	checkRespelled(e, m, tr, record)
	checkElsewhere(e, m, tr, record)
	checkSeveralFirst(e, m, tr, acknowledged)
	// "It is done" repeats no "it will be done".
	for _, promised := range []bool{false, true} {
		same := filter(acknowledged, func(a *classified) bool { return a.promised == promised })
		if len(same) >= 2 {
			checkReplayStatus(e, m, tr, g, same)
			checkReplayBody(e, m, tr, filter(same, func(a *classified) bool { return a.Body != history.OtherNaming })) // which may come back as it was sent
			checkReplayHeaders(e, m, tr, same)
		}
	}
	if declined := withOutcome(record, Declined); len(declined) >= 2 && e.terms.namesDeclines() {
		checkReplayBody(e, m, tr, declined)
		checkReplayHeaders(e, m, tr, declined)
	}
}

// checkReplayStatus checks that one attempt can have been the original of which every acknowledgement is a legal
// replay.
func checkReplayStatus(e *evaluation, m moment, tr *trace, g keyGroup, acknowledged []*classified) {
	first := acknowledged[0]
	one := !slices.ContainsFunc(acknowledged, func(a *classified) bool { return a.Status != first.Status })
	if one || slices.ContainsFunc(originalStatuses(e, g, acknowledged), func(status int) bool { return legalReplays(e, status, acknowledged) }) {
		return
	}
	i := slices.IndexFunc(acknowledged, func(a *classified) bool { return a.Status != first.Status })
	then := acknowledged[i]
	e.report(m, tr, Finding{
		Kind: ReplayMismatch, Detail: "status",
		Promise:  "A replay has the status of the first answer, or one that the contract allows.",
		Contract: fmt.Sprintf("replay.status: %s", statusRule(e.terms.Contract.Replay)),
		Expected: fmt.Sprintf("status %d", first.Status),
		Observed: fmt.Sprintf("status %d", then.Status),
		Differs:  []Difference{{Attempt: then.ID, Where: "status", First: fmt.Sprint(first.Status), Then: fmt.Sprint(then.Status)}},
	})
}

// originalStatuses lists the statuses that the one executing attempt of a group may have answered with. It began
// before any answer of the record was complete. Where its answer is unknown, it may have been any acknowledgement.
func originalStatuses(e *evaluation, g keyGroup, acknowledged []*classified) []int {
	earliest := firstEnd(acknowledged)
	var statuses []int
	for _, a := range g {
		switch {
		case a.Start > earliest:
		case a.outcome == Acknowledged:
			statuses = append(statuses, a.Status)
		case a.outcome == Unknown:
			statuses = append(append(statuses, e.terms.Contract.Ack.Statuses...), e.terms.Contract.Ack.Accepted.Statuses...)
		}
	}
	return statuses
}

// legalReplays reports that every acknowledgement is the first answer itself, with this status, or a legal replay of
// it.
func legalReplays(e *evaluation, status int, acknowledged []*classified) bool {
	allowed := e.terms.Contract.Replay.Status[status]
	return !slices.ContainsFunc(acknowledged, func(a *classified) bool {
		return a.Status != status && !slices.Contains(allowed, a.Status)
	})
}

// statusRule returns the contract's rule for statuses, in words.
func statusRule(r contract.Replay) string {
	if len(r.Status) == 0 {
		return "same"
	}
	return fmt.Sprint(r.Status)
}

// checkReplayBody compares every acknowledgement's body with the first one's, as the contract asks.
func checkReplayBody(e *evaluation, m moment, tr *trace, acknowledged []*classified) {
	if len(acknowledged) < 2 {
		return
	}
	first := acknowledged[0]
	for _, a := range acknowledged[1:] {
		differs, unknown := compareBodies(e.terms.Contract.Replay, first.Attempt, a.Attempt)
		if unknown != "" {
			doubtOnce(e, "the answers to attempts %s and %s have not the same bytes, and could not be compared as replay.body: %s asks: %s", first.ID, a.ID, e.terms.Contract.Replay.Body, unknown)
		}
		if len(differs) == 0 {
			continue
		}
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "body",
			Promise:  "A replay has the body of the first answer.",
			Contract: "replay.body: " + string(e.terms.Contract.Replay.Body),
			Expected: "the body of attempt " + first.ID,
			Observed: fmt.Sprintf("attempt %s differs at %s", a.ID, differs[0].Where),
			Differs:  differs,
		})
		return
	}
}

// checkReplayHeaders compares the headers that the contract lists, and no others.
func checkReplayHeaders(e *evaluation, m moment, tr *trace, acknowledged []*classified) {
	first := acknowledged[0]
	for _, a := range acknowledged[1:] {
		for _, name := range e.terms.Contract.Replay.Headers {
			want, got := headerValue(first.Header, name), headerValue(a.Header, name)
			if want == got {
				continue
			}
			e.report(m, tr, Finding{
				Kind: ReplayMismatch, Detail: "header",
				Promise:  "A replay has the headers of the first answer that the contract lists.",
				Contract: "replay.headers: " + name,
				Expected: fmt.Sprintf("%s: %s", name, orNothing(want)),
				Observed: fmt.Sprintf("%s: %s", name, orNothing(got)),
				Differs:  []Difference{{Attempt: a.ID, Where: name, First: orNothing(want), Then: orNothing(got)}},
			})
			return
		}
	}
}

// unmarkedBy returns whether an answer lacks the header by which a replay says that it is one.
func unmarkedBy(rule *contract.ReplayMarker) func(*classified) bool {
	return func(a *classified) bool { return headerValue(a.Header, rule.Name) != rule.Value }
}

// firstEnd returns when the first of some answers was complete.
func firstEnd(answers []*classified) history.Offset {
	earliest := answers[0].End
	for _, a := range answers {
		earliest = min(earliest, a.End)
	}
	return earliest
}

// checkSeveralFirst checks that at most one acknowledgement of a key does not say that it is a replay.
func checkSeveralFirst(e *evaluation, m moment, tr *trace, acknowledged []*classified) {
	rule := e.terms.Contract.Replay.Marker
	if rule == nil || !rule.Required {
		return
	}
	if unmarked := len(filter(acknowledged, unmarkedBy(rule))); unmarked >= 2 {
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "marker", Contract: "replay.marker: " + rule.Name,
			Promise:  "A replay says that it is one.",
			Expected: "at most one answer without " + rule.Name,
			Observed: fmt.Sprintf("%d answers without it: each claims to be the first", unmarked),
		})
	}
}

// checkNoFirst checks that not every answer says that it is a replay, unless a first answer may be lost.
func checkNoFirst(e *evaluation, m moment, tr *trace, g keyGroup) {
	rule, acknowledged := e.terms.Contract.Replay.Marker, withOutcome(g, Acknowledged)
	if rule == nil || len(acknowledged) == 0 || len(filter(acknowledged, unmarkedBy(rule))) > 0 {
		return
	}
	earliest := firstEnd(acknowledged)
	if slices.ContainsFunc(g, func(a *classified) bool { return a.is(Unknown, Accepted) && a.Start <= earliest }) {
		return
	}
	e.report(m, tr, Finding{
		Kind: ReplayMismatch, Detail: "marker", Contract: "replay.marker: " + rule.Name,
		Promise:  "A first answer does not say that it is a replay.",
		Expected: "one answer without " + rule.Name,
		Observed: "every answer says that it is a replay, and no answer before them was lost",
	})
}
