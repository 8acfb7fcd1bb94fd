package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// noticed is how long after the end of a process it is seen at the latest: its connections broke by then.
const noticed = history.Offset(1500e6)

// deathNote is what was inside a process when it ended.
type deathNote struct {
	inside   int
	first    []insideOne // of them, by when they were sent
	most     string      // intent with the most of them, of equals the one whose request came last; empty: none was inside
	n        int
	latest   history.Offset
	last     string // intent that had its answer last
	answered history.Offset
}

// insideOne is a request that was inside a process.
type insideOne struct {
	id    string
	start history.Offset
}

// shownInside is how many of the requests inside a process are named.
const shownInside = 6

// noteDeaths notes which requests were inside the processes that ended by themselves.
func (w *whole) noteDeaths(e *evaluation, tr *trace) {
	for i, d := range e.history.Deaths {
		note := &w.deaths[i]
		inside := filter(tr.attempts, func(a *classified) bool { return diedWith(d, a) })
		latest := history.Offset(0)
		for _, a := range inside {
			note.first = append(note.first, insideOne{a.ID, a.Start})
			latest = max(latest, a.Start)
		}
		if n := len(inside); n > note.n || n > 0 && n == note.n && latest > note.latest {
			note.most, note.n, note.latest = tr.intent.ID, n, latest
		}
		note.inside += len(inside)
		slices.SortStableFunc(note.first, func(a, b insideOne) int { return cmp.Compare(a.start, b.start) })
		note.first = note.first[:min(len(note.first), shownInside)]
		for _, a := range tr.attempts {
			if a.End != 0 && a.End <= d.At && a.Complete && a.End > note.answered {
				note.last, note.answered = tr.intent.ID, a.End
			}
		}
	}
}

// intent returns the intent that a death is reported of: the one with the most requests inside or, where none was, the one that
// had its answer last; empty: none had.
func (n deathNote) intent() string { return cmp.Or(n.most, n.last) }

// checkDeaths reports the processes that ended by themselves.
func checkDeaths(e *evaluation) {
	for i, d := range e.history.Deaths {
		note := e.asking().deaths[i]
		for tr := range e.traces() {
			if tr.intent.ID == note.intent() {
				e.report(momentOf(e, d), tr, deathFinding(d, note))
			}
		}
	}
}

// reportLonelyDeaths reports the processes that ended before any request was answered.
func reportLonelyDeaths(e *evaluation) {
	for i, d := range e.history.Deaths {
		if note := e.whole.deaths[i]; note.intent() == "" {
			e.reportAll(momentOf(e, d), deathFinding(d, note))
		}
	}
}

// momentOf returns the first snapshot after a death.
func momentOf(e *evaluation, d history.Death) moment {
	if t1 := e.history.T1; t1 == nil || d.At < t1.At {
		return atT1
	}
	return atT2
}

// deathFinding is the finding of a process that ended by itself.
func deathFinding(d history.Death, note deathNote) Finding {
	return Finding{Kind: TargetDied, Expected: "a process that runs until it is asked to end", Observed: describeDeath(d, note)}
}

// diedWith reports that an attempt was inside a process when it ended: it had arrived, got no answer, and its
// connection broke.
func diedWith(d history.Death, a *classified) bool {
	if d.Instance != 0 && a.Instance != 0 && a.Instance != d.Instance {
		return false
	}
	came, over := a.Wrote, a.End
	if p := observed(a); p != nil {
		if came = p.Arrived; p.Answered != 0 {
			return false
		}
		for _, o := range []history.Offset{p.Left, p.Closed} {
			if o != 0 {
				over = o
			}
		}
	} else if a.Replied != 0 {
		return false
	}
	return came != 0 && came <= d.At && over >= d.At-noticed && a.Status == 0
}

// describeDeath says how a process ended, why, and with what inside.
func describeDeath(d history.Death, note deathNote) string {
	text := "the process"
	if d.Instance != 0 {
		text = fmt.Sprintf("the process of instance %d", d.Instance)
	}
	text += " ended by itself (" + d.How + ")"
	if len(d.Said) > 0 {
		text += ": " + strings.Join(d.Said, " | ")
	}
	var names []string
	for _, a := range note.first {
		names = append(names, a.id)
	}
	switch n := note.inside; {
	case n == 0:
		text += "; no request was inside"
	case n > shownInside:
		text += fmt.Sprintf("; inside: %s and %d more", strings.Join(names, ", "), n-shownInside)
	default:
		text += "; inside: " + strings.Join(names, ", ")
	}
	if d.Error != "" {
		text += "; it does not start again: " + d.Error
	}
	return text
}
