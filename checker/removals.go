package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// removals parts each story where what it had made was removed: what came before was another wish, whose story is
// over. A story of which that is not certain is judged by nothing.
func (c *court) removals() {
	for _, r := range c.history.Removals {
		for _, f := range c.families {
			for _, s := range f.stories {
				if s.intent.ID == r.Intent {
					s.part(r)
				}
			}
		}
	}
}

// part leaves a story with what came after a removal, or with nothing where somebody may still have been at work
// for what came before.
func (s *story) part(r history.Removal) {
	before := keep(s.attempts, func(a *judged) bool { return a.Start < r.Begun })
	over := !slices.ContainsFunc(before, func(a *judged) bool {
		return !a.is(Acknowledged, Exists, Rejected, Throttled, NotSent) || a.latest > r.Begun
	})
	s.attempts = keep(s.attempts, func(a *judged) bool { return a.Start >= r.Begun })
	if r.Done == 0 || !over {
		s.void = true
		return
	}
	s.removed = append(s.removed, before...)
}

// notRemoved warns of stories that were left out, as nobody knows what was there when the same was wanted again.
func (c *court) notRemoved() {
	var intents []string
	why := ""
	for _, r := range c.history.Removals {
		if r.Done == 0 {
			intents = append(intents, r.Intent)
			why = cmp.Or(why, r.Error)
		}
	}
	if len(intents) > 0 {
		c.warnings = append(c.warnings, Warning{Kind: "not-removed", Intents: intents, Text: fmt.Sprintf("%s could not be judged, as what it had made was not removed; the first: %s", count(len(intents), "intent"), why)})
	}
}
