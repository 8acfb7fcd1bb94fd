package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// side is one of the two bodies that a key was used with.
type side struct {
	body     string
	marker   string
	attempts []*judged
	rows     []history.Row
}

// altered holds a story that was sent with two bodies under one key against decision table 3:
// either body may win, but exactly one.
func (c *court) altered(m moment, s *story) {
	original, knownO := c.side(m, s, history.Original)
	changed, knownC := c.side(m, s, history.Altered)
	if !knownO || !knownC {
		return
	}
	o, a := len(original.rows), len(changed.rows)
	switch {
	case o > 1 || a > 1:
		c.duplicate(m, s, max(o, a), 1, c.sinceProbe(m))
	case o == 1 && a == 1:
		c.bothApplied(m, s, original, changed)
	case o == 1:
		c.oneApplied(m, s, original, changed)
	case a == 1:
		c.oneApplied(m, s, changed, original)
	default:
		c.noneApplied(m, s)
	}
	c.content(m, s, original)
	c.content(m, s, changed)
}

func (c *court) side(m moment, s *story, body string) (side, bool) {
	marker := s.intent.Bodies[body].Marker
	rows, known := c.rows(m, marker)
	return side{body: body, marker: marker, attempts: ofBody(s.attempts, body), rows: rows}, known
}

// alteredApart judges stories whose two bodies did not meet under one key: twins, or an altered body
// with a key of its own. Nothing says then which body must win, so only the numbers count.
func (c *court) alteredApart(m moment, stories []*story) {
	b, total := c.terms.boundsOf(stories), 0
	for _, body := range []string{history.Original, history.Altered} {
		x, known := c.side(m, stories[0], body)
		if !known {
			return
		}
		total += len(x.rows)
		c.content(m, stories[0], x)
	}
	switch {
	case total > max(b.wishes, 1):
		c.duplicate(m, stories[0], total, max(b.wishes, 1), c.sinceProbe(m))
	case total < b.lower:
		c.missing(m, stories, total, b.lower)
	case total > b.upper:
		c.phantom(m, c.unexplained(stories), total, b.upper)
	}
}

func (c *court) bothApplied(m moment, s *story, sides ...side) {
	for _, x := range sides {
		if !has(x.attempts, Acknowledged, Accepted, Unknown, Exists, InProgress) {
			c.report(m, s, Finding{
				Kind: PhantomRow, Detail: "rejected-yet-applied",
				Promise:  "What was refused has no effect.",
				Expected: fmt.Sprintf("no row of the %s body: all its attempts were refused", x.body),
				Observed: "1 row of each body",
			})
			return
		}
	}
	c.report(m, s, Finding{
		Kind: Duplicate, Detail: "altered-body-accepted",
		Promise:  "One key has at most one effect, also when it comes with another body.",
		Expected: "1 row, of one of the two bodies",
		Observed: "1 row of each body" + c.sinceProbe(m),
	})
}

// oneApplied judges the answers to the body that left no row, while the other body's row is there.
func (c *court) oneApplied(m moment, s *story, applied, other side) {
	acknowledged := ofOutcome(other.attempts, Acknowledged)
	if slices.ContainsFunc(acknowledged, func(a *judged) bool { return c.overwrote(m, a, applied, other) }) {
		c.overwritten(m, s, applied, other)
		return
	}
	switch {
	case toldExists(applied.attempts):
		c.toldExistsByNobody(m, s, 1)
	case !mayHaveEffect(applied.attempts):
		c.phantom(m, s, 1, 0)
	}
	for _, a := range acknowledged {
		if row := rowIdentity(s, applied.rows[0]); a.identity == "" || row == "" || a.identity == row {
			c.undetected(m, s, a, applied, other)
			continue
		}
		c.missing(m, []*story{s}, 0, 1)
	}
	c.refusalForgotten(m, s, applied, other)
}

// noneApplied judges a key of which nothing took effect, whichever body it came with.
func (c *court) noneApplied(m moment, s *story) {
	c.missing(m, []*story{s}, 0, 1)
	if mayHaveEffect(s.attempts) {
		return
	}
	conflicts := keep(s.attempts, func(a *judged) bool { return a.outcome == Exists || a.mismatch })
	// A body that was refused for another reason may have taken the key.
	if has(conflicts, Exists) || len(conflicts) == len(s.attempts) && c.mistaken(s) {
		c.falseConflict(m, s)
	}
}

// overwrote reports that one body was acknowledged and lost its row to the other: its answer was
// complete before any attempt of the other body began, or its row was seen before the final probe.
func (c *court) overwrote(m moment, acknowledged *judged, applied, other side) bool {
	if rows, known := c.rows(atT1, other.marker); m == atT2 && known && len(rows) > 0 && acknowledged.End <= c.history.T1.At {
		return true
	}
	return len(applied.attempts) > 0 && !slices.ContainsFunc(applied.attempts, func(a *judged) bool {
		return a.Start < acknowledged.End
	})
}

func (c *court) overwritten(m moment, s *story, applied, other side) {
	c.report(m, s, Finding{
		Kind: AlteredBody, Detail: "overwrote",
		Promise:  "What was acknowledged stays as it was acknowledged.",
		Expected: fmt.Sprintf("the row of the %s body, which was acknowledged first", other.body),
		Observed: fmt.Sprintf("the row now holds the %s body", applied.body),
	})
	if has(applied.attempts, Rejected) && !mayHaveEffect(applied.attempts) {
		c.missing(m, []*story{s}, 0, 1)
	}
}

// undetected judges an acknowledgement of the losing body that may name the winner's thing.
func (c *court) undetected(m moment, s *story, a *judged, applied, other side) {
	promise := c.terms.Contract
	switch {
	case c.comparesBodies() && echoes(a, other.marker):
		c.report(m, s, Finding{
			Kind: ReplayMismatch, Detail: "replay-echoes-request",
			Promise:  "A replay gives the recorded answer, not one built from the new request.",
			Contract: "replay.body: " + string(promise.Replay.Body),
			Expected: "the content of the body that took effect",
			Observed: fmt.Sprintf("the content of the %s body, which has no row", other.body),
		})
	case promise.Fingerprint.OnMismatch == contract.MismatchReject:
		c.report(m, s, Finding{
			Kind: AlteredBody, Detail: "undetected",
			Contract: "fingerprint.on_mismatch: reject",
			Expected: fmt.Sprintf("a refusal of the %s body, status %v", other.body, promise.Fingerprint.Statuses),
			Observed: fmt.Sprintf("status %d with the answer of the other body", a.Status),
		})
	case promise.Fingerprint.OnMismatch == contract.MismatchReplayOriginal && c.comparesBodies():
		if first := ofOutcome(applied.attempts, Acknowledged); len(first) > 0 {
			c.bodies(m, s, []*judged{first[0], a})
		}
	}
}

// echoes reports that an answer says a marker, or points at something named after it. Markers are words
// of lower-case letters and digits, and one may begin like another.
func echoes(a *judged, marker string) bool {
	words := strings.FieldsFunc(a.Content+" "+headerValue(a.Header, "Location"), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	return slices.Contains(words, marker)
}

// comparesBodies reports that the contract promises anything about the bodies of replays.
func (c *court) comparesBodies() bool {
	body := c.terms.Contract.Replay.Body
	return c.terms.Contract.Level != contract.DedupOnly && body != contract.AnyBody && body != contract.SameIdentity
}

// refusalForgotten holds that a refusal which the target stores is stored under the key, so that
// another body does not get through with it.
func (c *court) refusalForgotten(m moment, s *story, applied, other side) {
	for _, r := range keep(other.attempts, c.storedRefusal) {
		if slices.ContainsFunc(applied.attempts, func(a *judged) bool { return a.Start < r.End }) {
			continue
		}
		c.report(m, s, Finding{
			Kind: AlteredBody, Detail: "refusal-forgotten",
			Promise:  "A stored refusal keeps its key.",
			Contract: "errors.store_4xx: true",
			Expected: fmt.Sprintf("a refusal of the %s body: the key had been answered with status %d", applied.body, r.Status),
			Observed: fmt.Sprintf("the row of the %s body", applied.body),
		})
		return
	}
}

// storedRefusal reports that an answer is one that the contract says is stored under the key. What a
// target says at the door, before it looks at the key, is not.
func (c *court) storedRefusal(a *judged) bool {
	stored := c.terms.Contract.Errors.Store4xx
	atTheDoor := slices.Contains([]int{401, 403, 404, 405, 407, 415}, a.Status)
	return stored != nil && *stored && a.outcome == Rejected && a.followup == nil && !atTheDoor && !a.mismatch
}
