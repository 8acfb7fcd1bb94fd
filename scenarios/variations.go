package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
)

// Variation is a scenario of which one thing is different.
type Variation struct {
	With     string // what is different, in words; empty: nothing
	Scenario Scenario
}

// JitterLane is the lane of a variation whose requests come at times of their own.
const JitterLane = "jitter"

// Variations lists what a race of s may hit that s itself does not: other numbers of copies, a write gate, other intents at the same
// time, times that are drawn from the seed, the halves of a sweep, and a lane with jitter. Each has a name of its own. It lists none of a
// scenario in which nothing races. S must have been loaded.
func Variations(s Scenario) []Variation {
	v := varier{from: s}
	if !s.Races() {
		return nil
	}
	for i, step := range s.Steps {
		switch {
		case step.Burst != nil:
			v.burst(i, *step.Burst)
		case step.Sweep != nil:
			v.sweep(i, *step.Sweep)
		case len(step.Tabs) > 0:
			v.tabs(i)
		}
	}
	v.atOnce()
	v.jitter()
	return v.found
}

// The variations that are tried.
var (
	copiesTried = []int{2, 5, 20, 50}
	atOnceTried = []int{1, 4, 16}
)

// varier collects variations of a scenario.
type varier struct {
	from  Scenario
	found []Variation
}

// add adds the scenario that a change makes.
func (v *varier) add(with string, change func(*Scenario)) {
	to := v.from.clone()
	change(&to)
	to.Name = variationName(v.from.Name, with)
	to.complete()
	v.found = append(v.found, Variation{With: with, Scenario: to})
}

// longestName is how long the name of a scenario may be.
const longestName = 64

// variationName names a variation by its scenario and what is different.
func variationName(of, with string) string {
	end := "-" + strings.NewReplacer(" ", "-", "%", "").Replace(with)
	return of[:min(len(of), longestName-len(end))] + end
}

// burst tries other numbers of copies, and a write gate where the background does not need to
// write.
func (v *varier) burst(i int, b Burst) {
	for _, copies := range copiesTried {
		if copies != b.Copies && copies > b.Altered {
			v.add(fmt.Sprintf("%d copies", copies), func(to *Scenario) { to.Steps[i].Burst.Copies = copies })
		}
	}
	if !b.WriteGate && v.from.Background == nil {
		v.add("write gate", func(to *Scenario) {
			to.Steps[i].Burst.WriteGate = true
			to.Concurrency = 1
		})
	}
}

// sweep tries each half of the range with all intents, so that the offsets lie closer.
func (v *varier) sweep(i int, s Sweep) {
	if s.From.IsZero() && s.To.Share > 0 {
		middle := s.To.Scale(0.5)
		v.add("early offsets", func(to *Scenario) { to.Steps[i].Sweep.To = middle })
		v.add("late offsets", func(to *Scenario) { to.Steps[i].Sweep.From = middle })
	}
}

// tabs lets all but the first come at a time that the seed draws.
func (v *varier) tabs(i int) {
	if len(v.from.Steps[i].Tabs) < 2 {
		return
	}
	v.add("random offsets", func(to *Scenario) {
		for j := range to.Steps[i].Tabs {
			if j > 0 {
				to.Steps[i].Tabs[j].At, to.Steps[i].Tabs[j].Within = Span{}, Span{Share: 1}
			}
		}
	})
}

// atOnce changes how many intents are under way at the same time, where they may be.
func (v *varier) atOnce() {
	alone := slices.ContainsFunc(v.from.Steps, func(s Step) bool {
		return s.Burst != nil && s.Burst.WriteGate || s.Crash != nil || s.Flush != "" || len(s.cuts()) > 0
	})
	for _, n := range atOnceTried {
		if n != v.from.Concurrency && !(alone && n > 1) {
			v.add(fmt.Sprintf("%d at a time", n), func(to *Scenario) { to.Concurrency = n })
		}
	}
}

// jitter sends all by a lane whose delay differs from request to request. What is released behind the lane still comes together.
func (v *varier) jitter() {
	if len(v.from.Lanes) > 0 {
		return
	}
	v.add("jitter", func(to *Scenario) {
		delay := faults.Duration(5 * time.Millisecond)
		to.Lanes = map[string][]faults.Fault{JitterLane: {{Latency: &faults.Latency{Delay: delay, Jitter: delay}}}}
		for _, one := range to.sendings() {
			one.send.Lane = JitterLane
		}
	})
}
