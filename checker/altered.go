package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// side is one of the two bodies that a key was used with.
type side struct {
	body     string
	marker   string
	attempts []judged
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
		c.duplicate(m, s, max(o, a), 1)
	case o == 1 && a == 1:
		c.bothApplied(m, s, original, changed)
	case o == 1:
		c.oneApplied(m, s, original, changed)
	case a == 1:
		c.oneApplied(m, s, changed, original)
	case has(s.attempts, Acknowledged, Exists):
		c.missing(m, []*story{s}, 0, 1)
	}
	c.sideContent(m, s, original)
	c.sideContent(m, s, changed)
}

func (c *court) side(m moment, s *story, body string) (side, bool) {
	marker := s.intent.Bodies[body].Marker
	rows, known := c.rows(m, marker)
	return side{body: body, marker: marker, attempts: ofBody(s.attempts, body), rows: rows}, known
}

func (c *court) bothApplied(m moment, s *story, sides ...side) {
	for _, x := range sides {
		if !has(x.attempts, Acknowledged, Unknown, Exists) {
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
	if !has(applied.attempts, Acknowledged, Unknown, Exists) {
		c.phantom(m, s, 1, 0)
	}
	for _, a := range ofOutcome(other.attempts, Acknowledged) {
		switch {
		case c.overwrote(a, applied):
			c.overwritten(m, s, applied, other)
		case a.identity != "" && a.identity == c.rowIdentity(applied.rows[0]):
			c.undetected(m, s, a, other)
		default:
			c.missing(m, []*story{s}, 0, 1)
		}
	}
}

// overwrote reports that an acknowledgement of one body was complete before any attempt of the body
// that is now in the row had begun.
func (c *court) overwrote(acknowledged judged, applied side) bool {
	return len(applied.attempts) > 0 && !slices.ContainsFunc(applied.attempts, func(a judged) bool {
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
}

// undetected judges an acknowledgement of the losing body that names the winner's thing.
func (c *court) undetected(m moment, s *story, a judged, other side) {
	echo := containsText(a.Content, other.marker)
	switch {
	case echo:
		c.report(m, s, Finding{
			Kind: ReplayMismatch, Detail: "replay-echoes-request",
			Promise:  "A replay gives the recorded answer, not one built from the new request.",
			Contract: "replay.body: " + string(c.terms.Contract.Replay.Body),
			Expected: "the content of the body that took effect",
			Observed: fmt.Sprintf("the content of the %s body, which has no row", other.body),
		})
	case c.terms.Contract.Fingerprint.OnMismatch == targets.MismatchReject:
		c.report(m, s, Finding{
			Kind: AlteredBody, Detail: "undetected",
			Promise:  "A key that comes with another body is refused.",
			Contract: "fingerprint.on_mismatch: reject",
			Expected: fmt.Sprintf("a refusal of the %s body, status %v", other.body, c.terms.Contract.Fingerprint.Statuses),
			Observed: fmt.Sprintf("status %d with the answer of the other body", a.Status),
		})
	}
}
