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
func (c *court) answers(m moment, s *story, g group) {
	alone := len(g) == len(s.attempts)
	for _, body := range []string{history.Original, history.Altered} {
		same := ofBody(g, body)
		c.identities(m, s, body, same, alone)
		if c.terms.Contract.Level != contract.DedupOnly {
			for _, record := range byKey(same) {
				for _, remembered := range c.terms.remembered(record) {
					c.replays(m, s, g, remembered)
				}
			}
		}
	}
	if c.terms.Contract.Level != contract.DedupOnly && g[0].Key != "" && begins(s, g) {
		c.nobodyFirst(m, s, g)
	}
}

// begins reports that a group has the first attempt of its key: what comes after the key may have been
// forgotten may still be a replay.
func begins(s *story, g group) bool {
	first := slices.IndexFunc(s.attempts, func(a *judged) bool { return a.Key == g[0].Key })
	return s.attempts[first] == g[0]
}

// byKey splits attempts by key, leaving out those without: a request without a key promises no replay.
func byKey(attempts []*judged) []group {
	var records []group
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
func (c *court) identities(m moment, s *story, body string, attempts []*judged, alone bool) {
	told := keep(attempts, func(a *judged) bool {
		return a.outcome == Acknowledged && c.names(s, a).Declared() || a.outcome == Exists && a.identity != ""
	})
	want, source := "", ""
	if rows, known := c.rows(m, s.intent.Bodies[body].Marker); known && len(rows) == 1 && !s.twin && !s.gone && alone {
		want, source = rowIdentity(s, rows[0]), "the row"
	}
	named := keep(told, func(a *judged) bool { return a.identity != "" })
	if want == "" && len(named) > 0 {
		want, source = named[0].identity, "attempt "+named[0].ID
	}
	c.strangers(m, s, named)
	for _, a := range told {
		if a.identity == want || a.identity == "" && c.mayBeNameless(s, a) {
			continue
		}
		where := c.names(s, a).Where()
		c.report(m, s, Finding{
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
func (c *court) strangers(m moment, s *story, named []*judged) {
	there := c.thingsOf(s)
	lost := c.seen[fmt.Sprintf("%s//%s", LostWrite, s.intent.ID)] || c.seen[fmt.Sprintf("%s/overwrote/%s", AlteredBody, s.intent.ID)]
	if len(there) == 0 || there[""] || lost || s.gone {
		return
	}
	for _, a := range named {
		if there[a.identity] {
			continue
		}
		c.report(m, s, Finding{
			Kind: ReplayMismatch, Detail: "identity",
			Promise:  "Everybody is told of the same thing, and it is the one that exists.",
			Expected: "something that the rows of this intent name",
			Observed: fmt.Sprintf("attempt %s names %s, and no row does", a.ID, a.identity),
			Differs:  []Difference{{Attempt: a.ID, Where: c.names(s, a).Where(), First: "a row's", Then: a.identity}},
		})
		return
	}
}

// thingsOf returns the identities that the rows of an intent have at either moment; none where rows of a
// body are unknown at both.
func (c *court) thingsOf(s *story) map[string]bool {
	there := map[string]bool{}
	for _, b := range s.intent.Bodies {
		before, knownBefore := c.rows(atT1, b.Marker)
		after, knownAfter := c.rows(atT2, b.Marker)
		if !knownBefore && !knownAfter {
			return nil
		}
		for _, row := range slices.Concat(before, after) {
			there[rowIdentity(s, row)] = true
		}
	}
	return there
}

// names returns where an answer should name the created thing.
func (c *court) names(s *story, a *judged) contract.Identity {
	switch {
	case a.outcome == Exists:
		return c.terms.Contract.Existing.Identity
	case a.followup != nil && c.terms.Contract.Ack.Accepted.Identity != "":
		return contract.Identity{JSON: c.terms.Contract.Ack.Accepted.Identity}
	default:
		return s.operation.Identity
	}
}

// mayBeNameless reports that an acknowledgement need not name what it acknowledges: it should name it in its body
// and has none, or one that is on record only in part, or the contract promises nothing about it.
func (c *court) mayBeNameless(s *story, a *judged) bool {
	promise := c.terms.Contract
	unread := c.names(s, a).Header == "" && (a.Length == 0 || a.Digest != "")
	return unread || promise.Level == contract.DedupOnly || promise.Replay.Body == contract.AnyBody
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func rowIdentity(s *story, row history.Row) string {
	value := row[s.operation.Rows.Identity]
	if value == nil {
		return ""
	}
	return plain(normalise(value))
}

// contradicted holds that after an acknowledgement nobody with the same request is refused, and that
// a stored refusal is not followed by an acknowledgement (I11).
func (c *court) contradicted(m moment, s *story, record []*judged) {
	acknowledged, rejected := ofOutcome(record, Acknowledged), keep(record, func(a *judged) bool { return a.outcome == Rejected && !a.respelled() })
	c.contradiction(m, s, acknowledged, rejected, "Once acknowledged, a repetition is not refused.", "level: idempotent")
	c.contradiction(m, s, keep(rejected, c.storedRefusal), acknowledged, "Once refused, a repetition is refused again.", "errors.store_4xx: true")
}

func (c *court) contradiction(m moment, s *story, first, then []*judged, promise, line string) {
	for _, a := range first {
		for _, b := range then {
			if b.Start <= a.End {
				continue
			}
			c.report(m, s, Finding{
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
func (c *court) takenForAnother(m moment, s *story, record []*judged) {
	mode := c.terms.Contract.Fingerprint.Mode
	if mode != contract.FingerprintJSON && mode != contract.FingerprintFields {
		return
	}
	for _, a := range record {
		if !a.respelled() || a.outcome != Rejected || !a.mismatch {
			continue
		}
		c.report(m, s, Finding{
			Kind: FalseConflict, Detail: "respelled",
			Promise:  "The same request in another spelling is the same request.",
			Contract: "fingerprint.mode: " + string(mode),
			Expected: "the answer of the first request",
			Observed: fmt.Sprintf("attempt %s, %s, was refused with status %d", a.ID, a.Body, a.Status),
		})
		return
	}
}
