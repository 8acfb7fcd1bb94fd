package engine

import (
	"cmp"
	"math"
	"slices"
)

// choose picks the next arm: first each once, and then the one from which the most signs
// of trouble in a second are to be hoped for (UCB1, P. Auer et al., 2002, "Finite-time
// analysis of the multiarmed bandit problem"). -1: there is none. Now and then it takes a
// variation of the best, or the arm with the least time: signs say where a race is nearly
// hit, and some defects give none before they show.
func (h *hunt) choose(s *Session) int {
	var open []int
	batches := 0
	for i, a := range h.arms {
		if !a.shown {
			continue
		}
		if a.batches == 0 {
			return i
		}
		batches += a.batches
		if a.rounds > 0 || a.batches < hopeless {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return -1
	}
	best := func(value func(a arm) float64) int {
		return slices.MaxFunc(open, func(x, y int) int {
			return cmp.Or(cmp.Compare(value(h.arms[x]), value(h.arms[y])), y-x)
		})
	}
	switch {
	case batches%varyEvery == 1:
		if i := h.vary(s, open); i >= 0 {
			return i
		}
	case batches%neglectEvery == 0:
		return best(func(a arm) float64 { return -a.took.Seconds() })
	}
	// The second term of UCB1 is large for an arm with few rounds, whose mean says little yet.
	all := float64(h.sum().Rounds)
	return best(func(a arm) float64 {
		return (a.mean() + math.Sqrt(2*math.Log(max(all, 1))/float64(max(a.rounds, 1)))) * a.perSecond()
	})
}

// hopeless is after how many batches an arm is not chosen any more of which none was exercised.
const hopeless = 3

// vary lets a variation be chosen of what has shown most in a second and still has one; -1: there is none.
func (h *hunt) vary(s *Session, open []int) int {
	ranked := slices.SortedStableFunc(slices.Values(open), func(x, y int) int {
		return -cmp.Compare(h.arms[x].mean()*h.arms[x].perSecond(), h.arms[y].mean()*h.arms[y].perSecond())
	})
	for _, i := range ranked {
		for j, a := range h.arms {
			if a.of == h.arms[i].of && !a.shown && len(s.plans[j].Intents) > 0 {
				h.arms[j].shown = true
				return j
			}
		}
	}
	return -1
}

// Every so many batches, one goes to what has shown most with something changed, and one to the arm that had the least time.
const (
	varyEvery    = 3
	neglectEvery = 4
)
