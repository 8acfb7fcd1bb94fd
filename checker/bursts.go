package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// bursts measures how far apart the members of each burst were let go. A burst that lost a member on
// its way is left out.
func (c *court) bursts() *Bursts {
	b := Bursts{Gate: GateDoorstep}
	var spreads []history.Offset
	for _, f := range c.families {
		for _, s := range f.stories {
			for _, members := range together(s.attempts) {
				spread, gate := spreadOf(members)
				if spread < 0 {
					continue
				}
				spreads = append(spreads, spread)
				b.Members = max(b.Members, len(members))
				if gate == GateLane {
					b.Gate = GateLane
				}
			}
		}
	}
	if len(spreads) == 0 {
		return nil
	}
	slices.Sort(spreads)
	n := len(spreads)
	b.Count, b.Median, b.P90, b.Most = n, spreads[n/2], spreads[n*9/10], spreads[n-1]
	return &b
}

// together splits off the members of each burst, by step.
func together(attempts []*judged) map[int][]*judged {
	steps := map[int][]*judged{}
	for _, a := range attempts {
		if a.Together {
			steps[a.Step] = append(steps[a.Step], a)
		}
	}
	return steps
}

// spreadOf returns the time from the first release to the last, negative where a member was not let go,
// and where they were.
func spreadOf(members []*judged) (history.Offset, Gate) {
	gate := GateDoorstep
	var times []history.Offset
	for _, a := range members {
		at := a.Wrote
		if a.Passage != nil && a.Passage.Held != 0 {
			at = a.Passage.Released
		} else {
			gate = GateLane
		}
		if at == 0 {
			return -1, gate
		}
		times = append(times, at)
	}
	return slices.Max(times) - slices.Min(times), gate
}
