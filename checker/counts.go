package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// counts holds the rows of stories that were sent with one body against their bounds: invariants I1
// to I3, decision table 1 and the rows of table 4.
func (c *court) counts(m moment, stories []*story) {
	for _, s := range stories {
		c.missingKey(m, s)
	}
	marker := stories[0].intent.Bodies[history.Original].Marker
	rows, known := c.rows(m, marker)
	if !known {
		return
	}
	b, n := c.terms.boundsOf(stories), len(rows)
	switch {
	case n > max(b.wishes, 1):
		c.duplicate(m, stories[0], n, max(b.wishes, 1), c.sinceProbe(m))
	case n < b.lower:
		c.missing(m, stories, n, b.lower)
	case n > b.upper && untouched(stories):
		c.wonder("intent %s has a row although nothing of it reached the target: somebody else writes its marker", stories[0].intent.ID)
	case n > b.upper:
		c.phantom(m, c.unexplained(stories), n, b.upper)
	}
	c.falseConflicts(m, stories, n)
	c.content(m, stories[0], side{body: history.Original, rows: rows})
}

// untouched reports that the harness knows of no request that reached the target.
func untouched(stories []*story) bool {
	return !slices.ContainsFunc(stories, func(s *story) bool {
		return slices.ContainsFunc(s.attempts, func(a *judged) bool { return a.outcome != NotSent })
	})
}

// unexplained picks the story to which a row without a cause belongs.
func (c *court) unexplained(stories []*story) *story {
	i := slices.IndexFunc(stories, func(s *story) bool {
		b := c.terms.bounds(s)
		return b.upper < max(b.wishes, 1)
	})
	return stories[max(i, 0)]
}

// duplicate reports more rows than there were wishes; since tells more of the rows.
func (c *court) duplicate(m moment, s *story, rows, wishes int, since string) {
	c.report(m, s, Finding{
		Kind:     Duplicate,
		Expected: fmt.Sprintf("at most %s for this marker", count(wishes, "row")),
		Observed: count(rows, "row") + since,
	})
}

// sinceProbe says so when something appeared only with the final probe: what shows at T1 already is
// reported there.
func (c *court) sinceProbe(m moment) string {
	if t1 := c.history.T1; m == atT2 && t1 != nil && t1.Error == "" {
		return ", one of them made by the final retry"
	}
	return ""
}

// missing reports acknowledged rows that are not there, on the stories that can have lost one.
func (c *court) missing(m moment, stories []*story, rows, lower int) {
	for _, s := range stories {
		if c.terms.bounds(s).lower == 0 {
			continue
		}
		c.report(m, s, Finding{
			Kind:     LostWrite,
			Expected: fmt.Sprintf("at least %s for this marker: the client was told so", count(lower, "row")),
			Observed: count(rows, "row"),
		})
	}
}

func (c *court) phantom(m moment, s *story, rows, upper int) {
	if slices.ContainsFunc(c.terms.groups(s.attempts), toldExists) {
		c.toldExistsByNobody(m, s, rows)
		return
	}
	c.report(m, s, Finding{
		Kind:     PhantomRow,
		Expected: fmt.Sprintf("at most %s: every other attempt was refused", count(upper, "row")),
		Observed: count(rows, "row"),
	})
}

// toldExists reports that somebody was told "that exists already" and nobody can have made it.
func toldExists(g group) bool {
	return has(g, Exists) && !mayHaveEffect(g)
}

func (c *court) toldExistsByNobody(m moment, s *story, rows int) {
	c.report(m, s, Finding{
		Kind: PhantomRow, Detail: "creator-told-exists",
		Promise:  "Whoever creates something is told that it was created.",
		Expected: "an attempt that was acknowledged, or whose answer was lost",
		Observed: count(rows, "row") + ", and whoever asked for it was told that it exists already",
	})
}

// falseConflicts reports fresh intents that were refused as repetitions of something else.
func (c *court) falseConflicts(m moment, stories []*story, rows int) {
	if rows >= len(stories) {
		return
	}
	for _, s := range stories {
		if !mayHaveEffect(s.attempts) && !c.excused(s) && (c.mistaken(s) || refusedBesideTwin(s, stories) || c.refusedBesideKin(s) || refusedOnceGone(s)) {
			c.falseConflict(m, s)
		}
	}
}

// excused reports that a refusal may be right, because somebody else used the intent's key and the
// contract does not say that keys are kept apart.
func (c *court) excused(s *story) bool {
	scope := c.terms.Contract.Scope
	return slices.ContainsFunc(c.sharing(s), func(other *story) bool {
		return other.intent.Principal != s.intent.Principal && scope.Principal != contract.ScopeSeparate ||
			other.intent.Operation != s.intent.Operation && scope.Operation != contract.ScopeSeparate
	})
}

// refusedBesideKin reports that of two intents that the contract keeps apart in spite of their one key,
// one got through and this one was refused.
func (c *court) refusedBesideKin(s *story) bool {
	return refusedAtOnce(s) && slices.ContainsFunc(c.sharing(s), func(other *story) bool { return mayHaveEffect(other.attempts) })
}

// scopeIgnored holds that where the contract refuses a key that another principal, or another operation,
// has used, nobody gets through with it.
func (c *court) scopeIgnored(m moment, stories []*story) {
	scope := c.terms.Contract.Scope
	for _, s := range stories {
		for _, other := range c.sharing(s) {
			line := ""
			switch {
			case other.intent.Principal != s.intent.Principal && scope.Principal == contract.ScopeReject:
				line = "scope.principal: reject"
			case other.intent.Operation != s.intent.Operation && scope.Operation == contract.ScopeReject:
				line = "scope.operation: reject"
			}
			if line == "" || !acknowledgedBefore(other.until(m), s) {
				continue
			}
			c.report(m, s, Finding{
				Kind: AlteredBody, Detail: "scope",
				Promise:  "A key that is taken is refused to everybody else.",
				Contract: line,
				Expected: "a refusal: the key had been used for intent " + other.intent.ID,
				Observed: "an acknowledgement",
			})
		}
	}
}

// acknowledgedBefore reports that one story was acknowledged before anything of another was sent that
// got through.
func acknowledgedBefore(first, then *story) bool {
	return slices.ContainsFunc(first.attempts, func(a *judged) bool {
		return a.outcome == Acknowledged && slices.ContainsFunc(then.attempts, func(b *judged) bool {
			return b.outcome == Acknowledged && a.Key == b.Key && a.End < b.Start
		})
	})
}

// sharing returns the intents that were sent with a key of this one, though by another principal or to
// another operation.
func (c *court) sharing(s *story) []*story {
	var all []*story
	for _, other := range c.kin[s.intent.Kin] {
		apart := other.intent.Principal != s.intent.Principal || other.intent.Operation != s.intent.Operation
		if apart && meet(s, other, func(a, b *judged) bool { return equalKeys(a, b) && b.outcome != NotSent }) {
			all = append(all, other)
		}
	}
	return all
}

// refusedAtOnce reports that an intent was refused, and not because something was tried and failed.
func refusedAtOnce(s *story) bool {
	return !has(s.attempts, InProgress) &&
		slices.ContainsFunc(s.attempts, func(a *judged) bool { return a.outcome == Rejected && a.followup == nil })
}

// refusedBesideTwin reports that of two equal requests one got through and this one was refused.
func refusedBesideTwin(s *story, stories []*story) bool {
	return refusedAtOnce(s) && slices.ContainsFunc(stories, func(twin *story) bool { return mayHaveEffect(twin.attempts) })
}

func (c *court) falseConflict(m moment, s *story) {
	f := Finding{
		Kind:     FalseConflict,
		Expected: "an acknowledgement: " + anew(s),
		Observed: "a refusal, and no row",
	}
	if shared := c.sharing(s); len(shared) > 0 {
		f.Contract, f.Expected = "scope.operation: separate", "an acknowledgement: at this operation nothing with this key was wanted before"
		if who := s.intent.Principal; who != shared[0].intent.Principal {
			f.Contract, f.Expected = "scope.principal: separate", fmt.Sprintf("an acknowledgement: %s had not used this key before", orNothing(who))
		}
	}
	c.report(m, s, f)
}

// anew says why a wish is a new one.
func anew(s *story) string {
	if s.past != nil {
		return "what was made before is gone"
	}
	return "nothing with this key was wanted before"
}

func (c *court) missingKey(m moment, s *story) {
	if !s.operation.Key.Required {
		return
	}
	keyless := keep(s.attempts, func(a *judged) bool { return a.Key == "" })
	accepted := ofOutcome(keyless, Acknowledged)
	if rows, _ := c.rows(m, s.intent.Bodies[history.Original].Marker); len(rows) > 0 && !s.twin && len(accepted) == 0 {
		accepted = keep(keyless, func(a *judged) bool { return a.is(Accepted, Unknown) })
		if mayHaveEffect(keep(s.attempts, func(a *judged) bool { return a.Key != "" })) {
			return
		}
	}
	if len(accepted) == 0 {
		return
	}
	c.report(m, s, Finding{
		Kind:     MissingKeyAccepted,
		Contract: "key.required: true",
		Expected: "a refusal",
		Observed: fmt.Sprintf("status %d to %s", accepted[0].Status, lacking(accepted[0])),
	})
}

func lacking(a *judged) string {
	if a.BlankKey {
		return "a blank key"
	}
	return "a request without a key"
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
