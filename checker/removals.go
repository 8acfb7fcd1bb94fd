package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// removals parts each story where what it had made was removed: what came before was another wish, whose story is
// over. Where that is not certain, nobody knows what there was for the second wish to find.
func (c *court) removals() {
	why := map[string]string{}
	for _, r := range c.history.Removals {
		for _, f := range c.families {
			for _, s := range f.stories {
				if s.intent.ID == r.Intent {
					why[r.Intent] = s.part(r)
				}
			}
		}
	}
	unclear, first := 0, ""
	for _, r := range c.history.Removals {
		if text := why[r.Intent]; text != "" {
			if unclear++; first == "" {
				first = fmt.Sprintf("%s: %s", r.Intent, text)
			}
		}
	}
	if unclear > 0 {
		c.wonder("what %s had made was not surely gone when it was wanted again; the first, %s", count(unclear, "intent"), first)
	}
}

// part parts a story in two, and says what makes it unclear where the first ended.
func (s *story) part(r history.Removal) (unclear string) {
	s.past = &story{
		intent: s.intent, operation: s.operation, gone: true, found: r.Found,
		attempts: keep(s.attempts, func(a *judged) bool { return a.Start < r.Begun }),
	}
	s.attempts = keep(s.attempts, func(a *judged) bool { return a.Start >= r.Begun })
	busy := slices.IndexFunc(s.past.attempts, func(a *judged) bool {
		return !a.is(Acknowledged, Exists, Rejected, Throttled, NotSent) || a.followup != nil || a.latest > r.Begun
	})
	switch {
	case r.Done == 0:
		unclear = cmp.Or(r.Error, "nobody knows that it was removed")
	case busy >= 0:
		unclear = fmt.Sprintf("the target may not have been done with attempt %s", s.past.attempts[busy].ID)
	}
	s.void = unclear != ""
	return unclear
}

// wishes are the story and what came before a removal in it.
func (s *story) wishes() []*story {
	if s.past == nil {
		return []*story{s}
	}
	return []*story{s.past, s}
}

// whole is a story with what came before a removal.
func (s *story) whole() *story {
	if s.past == nil {
		return s
	}
	all := *s
	all.attempts = slices.Concat(s.past.attempts, s.attempts)
	return &all
}

// bygone holds what came before a removal against the contract, as far as that takes no snapshot.
func (c *court) bygone(m moment, s *story) {
	if s.past == nil {
		return
	}
	wishes := max(c.terms.bounds(s.past).wishes, 1)
	if n := s.past.found; n > wishes {
		c.duplicate(m, s.past, n, wishes, ", before it was removed")
	}
	for _, g := range c.terms.groups(s.past.attempts) {
		c.answers(m, s.past, g)
	}
}

// refusedOnceGone reports that a wish that had come true was refused when it came again after what it made was gone.
func refusedOnceGone(s *story) bool {
	return s.past != nil && has(s.past.attempts, Acknowledged) && refusedAtOnce(s) &&
		!slices.ContainsFunc(s.attempts, func(a *judged) bool { return a.turnedAway() })
}
