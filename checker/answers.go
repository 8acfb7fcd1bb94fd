package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// answers compares the acknowledgements of a group with each other and with the row: invariants I4,
// I9 and I11, decision table 2. Each body and each key of a group is compared by itself: with a
// natural key a group may have several, and a replay repeats the answer to its own key only.
func checkAnswers(e *evaluation, m moment, tr *trace, g keyGroup) {
	alone := len(g) == len(tr.attempts)
	for _, body := range []string{history.Original, history.Altered} {
		same := withBody(g, body)
		checkIdentities(e, m, tr, body, same, alone)
		if e.terms.Contract.Level != contract.DedupOnly {
			for _, record := range byKey(same) {
				for _, remembered := range e.terms.remembered(record) {
					checkReplays(e, m, tr, g, remembered)
				}
			}
		}
	}
	if e.terms.Contract.Level != contract.DedupOnly && g[0].Key != "" && begins(tr, g) {
		checkNoFirst(e, m, tr, g)
	}
}

// begins reports that a group has the first attempt of its key: what comes after the key may have been
// forgotten may still be a replay.
func begins(tr *trace, g keyGroup) bool {
	first := slices.IndexFunc(tr.attempts, func(a *classified) bool { return a.Key == g[0].Key })
	return tr.attempts[first] == g[0]
}

// byKey splits attempts by key, leaving out those without: a request without a key promises no replay.
func byKey(attempts []*classified) []keyGroup {
	var records []keyGroup
	at := map[string]int{}
	for _, a := range attempts {
		i, known := at[a.Key]
		switch {
		case a.Key == "":
			continue
		case !known:
			i = len(records)
			at[a.Key], records = i, append(records, nil)
		}
		records[i] = append(records[i], a)
	}
	return records
}

// identities holds that all who name the created thing name the same one, and the one in the row.
// Where the intent has other groups, the row may be theirs.
func checkIdentities(e *evaluation, m moment, tr *trace, body string, attempts []*classified, alone bool) {
	told := filter(attempts, func(a *classified) bool {
		return a.outcome == Acknowledged && e.identityPlace(tr, a).Declared() || a.outcome == Exists && a.identity != ""
	})
	want, source := "", ""
	if rows, known := e.rows(m, tr.intent.Bodies[body].Marker); known && len(rows) == 1 && !tr.twin && !tr.endedByRemoval && alone {
		want, source = rowIdentity(tr, rows[0]), "the row"
	}
	named := filter(told, func(a *classified) bool { return a.identity != "" })
	if want == "" && len(named) > 0 {
		want, source = named[0].identity, "attempt "+named[0].ID
	}
	checkUnknownIdentities(e, m, tr, named)
	for _, a := range told {
		if a.identity == want || a.identity == "" && mayBeNameless(e, tr, a) {
			continue
		}
		where := e.identityPlace(tr, a).Where()
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "identity",
			Promise:  "Everybody is told of the same thing, and it is the one that exists.",
			Expected: fmt.Sprintf("%s at %s, as %s has it", want, where, source),
			Observed: fmt.Sprintf("attempt %s names %s", a.ID, orNothing(a.identity)),
			Differs:  []Difference{{Attempt: a.ID, Where: where, First: want, Then: orNothing(a.identity)}},
		})
		return
	}
}

// strangers holds that whoever is told of a thing is told of one that is there, where the intent has
// things at all and none is known to be lost.
func checkUnknownIdentities(e *evaluation, m moment, tr *trace, named []*classified) {
	there := e.identitiesOf(tr)
	lost := e.reported[fmt.Sprintf("%s//%s", LostWrite, tr.intent.ID)] || e.reported[fmt.Sprintf("%s/overwrote/%s", AlteredBody, tr.intent.ID)]
	if len(there) == 0 || there[""] || lost || tr.endedByRemoval {
		return
	}
	for _, a := range named {
		if there[a.identity] {
			continue
		}
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "identity",
			Promise:  "Everybody is told of the same thing, and it is the one that exists.",
			Expected: "something that the rows of this intent name",
			Observed: fmt.Sprintf("attempt %s names %s, and no row does", a.ID, a.identity),
			Differs:  []Difference{{Attempt: a.ID, Where: e.identityPlace(tr, a).Where(), First: "a row's", Then: a.identity}},
		})
		return
	}
}

// thingsOf returns the identities that the rows of an intent have at either moment; none where rows of a
// body are unknown at both.
func (e *evaluation) identitiesOf(tr *trace) map[string]bool {
	there := map[string]bool{}
	for _, b := range tr.intent.Bodies {
		before, knownBefore := e.rows(atT1, b.Marker)
		after, knownAfter := e.rows(atT2, b.Marker)
		if !knownBefore && !knownAfter {
			return nil
		}
		for _, row := range slices.Concat(before, after) {
			there[rowIdentity(tr, row)] = true
		}
	}
	return there
}

// names returns where an answer should name the created thing.
func (e *evaluation) identityPlace(tr *trace, a *classified) contract.Identity {
	switch {
	case a.outcome == Exists:
		return e.terms.Contract.Existing.Identity
	case a.followup != nil && e.terms.Contract.Ack.Accepted.Identity != "":
		return contract.Identity{JSON: e.terms.Contract.Ack.Accepted.Identity}
	default:
		return tr.operation.Identity
	}
}

// mayBeNameless reports that an acknowledgement need not name what it acknowledges: it should name it in its body
// and has none, or one that is on record only in part, or the contract promises nothing about it.
func mayBeNameless(e *evaluation, tr *trace, a *classified) bool {
	promise := e.terms.Contract
	unread := e.identityPlace(tr, a).Header == "" && (a.Length == 0 || a.Digest != "")
	return unread || promise.Level == contract.DedupOnly || promise.Replay.Body == contract.AnyBody
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func rowIdentity(tr *trace, row history.Row) string {
	value := row[tr.operation.Rows.Identity]
	if value == nil {
		return ""
	}
	return plain(normalise(value))
}

// contradicted holds that after an acknowledgement nobody with the same request is refused, and that
// a stored refusal is not followed by an acknowledgement (I11).
func checkContradictions(e *evaluation, m moment, tr *trace, record []*classified) {
	acknowledged, rejected := withOutcome(record, Acknowledged), filter(record, func(a *classified) bool { return a.outcome == Rejected && !a.respelled() })
	reportContradiction(e, m, tr, acknowledged, rejected, "Once acknowledged, a repetition is not refused.", "level: idempotent")
	reportContradiction(e, m, tr, filter(rejected, func(a *classified) bool { return storedRejection(e, a) }), acknowledged, "Once refused, a repetition is refused again.", "errors.store_4xx: true")
}

func reportContradiction(e *evaluation, m moment, tr *trace, first, then []*classified, promise, line string) {
	for _, a := range first {
		for _, b := range then {
			if b.Start <= a.End {
				continue
			}
			e.report(m, tr, Finding{
				Kind: ReplayMismatch, Detail: "status", Promise: promise, Contract: line,
				Expected: fmt.Sprintf("status %d again", a.Status),
				Observed: fmt.Sprintf("status %d", b.Status),
				Differs:  []Difference{{Attempt: b.ID, Where: "status", First: fmt.Sprint(a.Status), Then: fmt.Sprint(b.Status)}},
			})
			return
		}
	}
}

// takenForAnother holds that the same JSON value is the same request, however it is spelled.
func checkRespelled(e *evaluation, m moment, tr *trace, record []*classified) {
	mode := e.terms.Contract.Fingerprint.Mode
	if mode != contract.FingerprintJSON && mode != contract.FingerprintFields {
		return
	}
	for _, a := range record {
		if !a.respelled() || a.outcome != Rejected || !a.mismatch {
			continue
		}
		e.report(m, tr, Finding{
			Kind: FalseConflict, Detail: "respelled",
			Promise:  "The same request in another spelling is the same request.",
			Contract: "fingerprint.mode: " + string(mode),
			Expected: "the answer of the first request",
			Observed: fmt.Sprintf("attempt %s, %s, was refused with status %d", a.ID, a.Body, a.Status),
		})
		return
	}
}
