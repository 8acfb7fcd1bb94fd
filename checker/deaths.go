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

// checkDeaths reports the processes that ended by themselves.
func checkDeaths(e *evaluation) {
	for _, d := range e.history.Deaths {
		m := atT2
		if t1 := e.history.T1; t1 == nil || d.At < t1.At {
			m = atT1
		}
		f := Finding{Kind: TargetDied, Expected: "a process that runs until it is asked to end"}
		tr, inside := e.insideAt(d)
		f.Observed = describeDeath(d, inside)
		if tr == nil {
			e.reportAll(m, f)
			continue
		}
		e.report(m, tr, f)
	}
}

// insideAt returns the requests that were inside a process when it ended, and the trace that has the most of them, of
// equals the one whose request came last. Where none was inside, it is the one that had its answer last; nil: none had.
func (e *evaluation) insideAt(d history.Death) (*trace, []*classified) {
	var all []*classified
	var most, last *trace
	n, latest, answered := 0, history.Offset(0), history.Offset(0)
	for tr := range e.traces() {
		inside := filter(tr.attempts, func(a *classified) bool { return diedWith(d, a) })
		all = append(all, inside...)
		for _, a := range inside {
			if len(inside) > n || len(inside) == n && a.Start > latest {
				most, n, latest = tr, len(inside), a.Start
			}
		}
		for _, a := range tr.attempts {
			if a.End != 0 && a.End <= d.At && a.Complete && a.End > answered {
				last, answered = tr, a.End
			}
		}
	}
	if most == nil {
		return last, nil
	}
	slices.SortStableFunc(all, func(a, b *classified) int { return cmp.Compare(a.Start, b.Start) })
	return most, all
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
func describeDeath(d history.Death, inside []*classified) string {
	text := "the process"
	if d.Instance != 0 {
		text = fmt.Sprintf("the process of instance %d", d.Instance)
	}
	text += " ended by itself (" + d.How + ")"
	if len(d.Said) > 0 {
		text += ": " + strings.Join(d.Said, " | ")
	}
	const shown = 6
	names := make([]string, 0, shown)
	for _, a := range inside[:min(len(inside), shown)] {
		names = append(names, a.ID)
	}
	switch n := len(inside); {
	case n == 0:
		text += "; no request was inside"
	case n > shown:
		text += fmt.Sprintf("; inside: %s and %d more", strings.Join(names, ", "), n-shown)
	default:
		text += "; inside: " + strings.Join(names, ", ")
	}
	if d.Error != "" {
		text += "; it does not start again: " + d.Error
	}
	return text
}
