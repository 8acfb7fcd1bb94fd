package main

import (
	"fmt"
	"slices"
	"strings"
)

// aim is one target to reach, and what was.
type aim struct {
	what    string
	reached string
	ok      bool
	empty   bool // nothing was measured that it could be judged by
}

// verdict says in a word whether the aim was reached.
func (a aim) verdict() string {
	switch {
	case a.empty:
		return "not measured"
	case a.ok:
		return "yes"
	default:
		return "NO"
	}
}

// judge collects figures, each of which must hold.
type judge struct {
	aim
	figures []string
}

// newJudge begins an aim, which is reached until a figure does not hold.
func newJudge(what string) *judge { return &judge{aim: aim{what: what, ok: true}} }

// figure adds what was measured, and marks it where it falls short.
func (j *judge) figure(holds bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !holds {
		text += " (short)"
	}
	j.figures = append(j.figures, text)
	j.ok = j.ok && holds
}

// sentence is the aim with all its figures.
func (j *judge) sentence() aim {
	j.reached, j.empty = strings.Join(j.figures, ", "), len(j.figures) == 0
	return j.aim
}

// aims are the targets to reach, with what this run says of them.
func (r *results) aims() []aim {
	all := []aim{r.steadyAim()}
	for _, t := range []struct {
		least   float64
		members []int
	}{{300, []int{2}}, {200, []int{10, 20}}, {50, []int{50}}} {
		what := fmt.Sprintf("100 ms ± 50 ms: spread at p50 at least %.0f x tighter than vegeta, k6 and barrier for N = %s", t.least, list(t.members))
		all = append(all, r.tighterAim(what, "jitter", t.members, []string{engine, k6, barrier}, 0.5, t.least))
	}
	middle := []int{10, 20, 50}
	return append(all,
		r.tighterAim("clean lane: spread at p50 at least 2 x tighter than vegeta and k6 for N = 10 to 50", "clean", middle, []string{engine, k6}, 0.5, 2),
		r.tighterAim("clean lane: spread at p99 at least 3 x tighter than vegeta and k6 for N = 10 to 50", "clean", middle, []string{engine, k6}, 0.99, 3),
		r.neverWorseAim(0.5), r.neverWorseAim(0.99),
		r.duplicatesAim(), r.perSecondAim(others()), r.perSecondAim([]string{k6Far}), r.throughputAim(), r.hiddenAim(),
	)
}

func list(of []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(of), "[]"), " ", ", ")
}

// quantile of the spread in a cell, and whether that was measured.
func (r *results) spread(at spot, share float64) (float64, bool) {
	c := r.cells[at]
	if c == nil || len(c.spreads) == 0 {
		return 0, false
	}
	return float64(quantile(c.spreads, share)), true
}

// steadyAim holds that jitter on the way does not spread a burst: its members are released by
// their last byte, when all else of them has arrived.
func (r *results) steadyAim() aim {
	const most = 1.5
	j := newJudge("100 ms ± 50 ms: our spread at p50 at most 1.5 x that on the clean lane")
	for _, n := range r.settings.members {
		calm, ok1 := r.spread(spot{"clean", n, ours}, 0.5)
		rough, ok2 := r.spread(spot{"jitter", n, ours}, 0.5)
		if ok1 && ok2 {
			j.figure(rough <= most*calm, "N=%d: %s", n, times(rough, calm))
		}
	}
	return j.sentence()
}

// tighterAim holds that others' spread is so many times ours.
func (r *results) tighterAim(what, lane string, members []int, senders []string, share, least float64) aim {
	j := newJudge(what)
	for _, n := range members {
		mine, ok := r.spread(spot{lane, n, ours}, share)
		for _, other := range senders {
			theirs, there := r.spread(spot{lane, n, other}, share)
			if ok && there {
				j.figure(theirs >= least*mine, "N=%d %s: %s", n, other, times(theirs, mine))
			}
		}
	}
	return j.sentence()
}

// neverWorseAim names the tightest of the others for each number of members.
func (r *results) neverWorseAim(share float64) aim {
	j := newJudge(fmt.Sprintf("clean lane: spread at p%.0f never worse than that of any other", 100*share))
	for _, n := range r.settings.members {
		mine, ok := r.spread(spot{"clean", n, ours}, share)
		best, name := 0.0, ""
		for _, other := range others() {
			if theirs, there := r.spread(spot{"clean", n, other}, share); there && (name == "" || theirs < best) {
				best, name = theirs, other
			}
		}
		if ok && name != "" {
			j.figure(best >= mine, "N=%d %s: %s", n, name, times(best, mine))
		}
	}
	return j.sentence()
}

// perSecondAim holds that we find as many duplicates in a second as the best of some others, where nothing is in the way.
func (r *results) perSecondAim(rivals []string) aim {
	whose := "the best of the others"
	if len(rivals) == 1 {
		whose = "those of " + rivals[0]
	}
	j := newJudge("clean lane: duplicates found per second at least 1 x " + whose)
	for _, n := range r.settings.members {
		mine, best, name := r.cells[spot{"clean", n, ours}], 0.0, ""
		for _, other := range rivals {
			if c := r.cells[spot{"clean", n, other}]; c != nil && c.perSecond(usualWindow) > best {
				best, name = c.perSecond(usualWindow), other
			}
		}
		if mine != nil && name != "" {
			j.figure(mine.perSecond(usualWindow) >= best, "N=%d %s: %s", n, name, times(mine.perSecond(usualWindow), best))
		}
	}
	return j.sentence()
}

// duplicatesAim holds that a burst finds a race of 200 µs over a bad line, where others rarely do.
func (r *results) duplicatesAim() aim {
	const n, least, most = 10, 0.99, 0.2
	j := newJudge("100 ms ± 50 ms, N = 10: 200 µs duplicate in at least 99 % of our bursts and in less than 20 % of the others'")
	for _, name := range r.senders {
		c := r.cells[spot{"jitter", n, name}]
		switch {
		case c == nil:
		case name == ours, name == oursTwo:
			j.figure(c.share(usualWindow) >= least, "%s: %s", name, percent(c.share(usualWindow)))
		default:
			j.figure(c.share(usualWindow) < most, "%s: %s", name, percent(c.share(usualWindow)))
		}
	}
	return j.sentence()
}

// throughputAim holds that the record of a run costs little of its speed.
func (r *results) throughputAim() aim {
	const least = 0.8
	j := newJudge("throughput with its history in a file at least 0.8 x that of bare vegeta through the same lane")
	if len(r.rates) > 1 {
		mine, theirs := r.rates[0].median(), r.rates[1].median()
		j.figure(mine >= least*theirs, "%s", times(mine, theirs))
	}
	return j.sentence()
}

// hiddenAim holds that the target counts as many requests as were asked for: none is repeated on
// the quiet.
func (r *results) hiddenAim() aim {
	j := newJudge("no hidden sends of ours, in any mode")
	for _, name := range []string{ours, oursTwo} {
		if asked, counted, _ := r.total(name); asked > 0 {
			j.figure(counted == asked, "bursts: %d asked for, %d counted", asked, counted)
		}
		if i := slices.IndexFunc(r.hidden, func(h hidden) bool { return h.sender == name }); i >= 0 {
			h := r.hidden[i]
			j.figure(h.counted == h.asked, "connections that break: %d asked for, %d counted", h.asked, h.counted)
		}
	}
	return j.sentence()
}
