package checker

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/history"
)

// counts holds the rows of stories that were sent with one body against their bounds: invariants I1
// to I3, decision table 1 and the rows of table 4.
func (c *court) counts(m moment, stories []*story) {
	var groups []group
	for _, s := range stories {
		c.missingKey(m, s)
		groups = append(groups, c.terms.groups(s.attempts)...)
	}
	rows, known := c.rows(m, stories[0].intent.Bodies[history.Original].Marker)
	if !known {
		return
	}
	lower, upper := 0, 0
	for _, g := range groups {
		lower += g.lower()
		upper += g.upper()
	}
	n := len(rows)
	switch {
	case n > max(len(groups), 1):
		c.duplicate(m, stories[0], n, len(groups))
	case n < lower:
		c.missing(m, stories, n, lower)
	case n > upper:
		c.phantom(m, stories[0], n, upper)
	case n == 1 && len(groups) == 1 && toldExists(groups[0]):
		c.toldExistsByNobody(m, stories[0])
	}
	c.falseConflicts(m, stories)
	c.content(m, stories, rows)
}

func (c *court) duplicate(m moment, s *story, rows, wishes int) {
	c.report(m, s, Finding{
		Kind:     Duplicate,
		Promise:  "One intent has at most one effect, however often it is sent.",
		Expected: fmt.Sprintf("at most %s for this marker", count(wishes, "row")),
		Observed: fmt.Sprintf("%s%s", count(rows, "row"), c.sinceProbe(m)),
	})
}

// sinceProbe says so when something appeared only with the final probe.
func (c *court) sinceProbe(m moment) string {
	if m == atT2 && c.history.T1 != nil {
		return ", one of them made by the final retry"
	}
	return ""
}

// missing reports acknowledged rows that are not there, on the stories that can have lost one.
func (c *court) missing(m moment, stories []*story, rows, lower int) {
	for _, s := range stories {
		if !has(s.attempts, Acknowledged, Exists) || c.neverExisted(s) {
			continue
		}
		c.report(m, s, Finding{
			Kind:     LostWrite,
			Promise:  "What was acknowledged is there.",
			Expected: fmt.Sprintf("at least %s for this marker: the client was told so", count(lower, "row")),
			Observed: count(rows, "row"),
		})
	}
}

func (c *court) phantom(m moment, s *story, rows, upper int) {
	c.report(m, s, Finding{
		Kind:     PhantomRow,
		Promise:  "No effect without an attempt that was acknowledged or whose answer is unknown.",
		Expected: fmt.Sprintf("at most %s: every other attempt was refused", count(upper, "row")),
		Observed: count(rows, "row"),
	})
}

// toldExists reports that somebody was told "that exists already" and nobody can have made it.
func toldExists(g group) bool {
	return has(g, Exists) && !has(g, Acknowledged, Unknown)
}

func (c *court) toldExistsByNobody(m moment, s *story) {
	c.report(m, s, Finding{
		Kind: PhantomRow, Detail: "creator-told-exists",
		Promise:  "Whoever creates something is told that it was created.",
		Expected: "an attempt that was acknowledged, or whose answer was lost",
		Observed: "one row, and every attempt was told that it exists already",
	})
}

// neverExisted reports that every answer of a story spoke of something that cannot be its own: told
// "exists", and no attempt that can have made it.
func (c *court) neverExisted(s *story) bool {
	return has(s.attempts, Exists) && !has(s.attempts, Acknowledged, Unknown)
}

// falseConflicts reports fresh intents that were refused as repetitions of something else.
func (c *court) falseConflicts(m moment, stories []*story) {
	for _, s := range stories {
		if has(s.attempts, Acknowledged, Unknown, InProgress) {
			continue
		}
		rows, known := c.rows(m, s.intent.Bodies[history.Original].Marker)
		refused := len(keep(s.attempts, func(a judged) bool { return a.outcome == Exists || c.terms.mismatch(a.Attempt) })) > 0
		twinRefused := len(stories) > 1 && has(s.attempts, Rejected)
		if known && len(rows) < len(stories) && (refused || twinRefused) {
			c.report(m, s, Finding{
				Kind:     FalseConflict,
				Promise:  "A new wish is not refused as the repetition of another.",
				Expected: "an acknowledgement: nothing with this key was wanted before",
				Observed: "a refusal, and no row",
			})
		}
	}
}

func (c *court) missingKey(m moment, s *story) {
	if !c.terms.Operation.Key.Required {
		return
	}
	accepted := keep(s.attempts, func(a judged) bool { return a.Key == "" && a.outcome == Acknowledged })
	if len(accepted) == 0 {
		return
	}
	c.report(m, s, Finding{
		Kind:     MissingKeyAccepted,
		Promise:  "A request without the required idempotency key is refused.",
		Contract: "key.required: true",
		Expected: "a refusal",
		Observed: fmt.Sprintf("status %d", accepted[0].Status),
	})
}

// count renders a number of things.
func count(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}
