package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// setback is something after which the contract may allow one more execution.
type setback struct {
	line string // of the contract
	at   history.Offset
	ends bool // what was inside the target ended with it
	link bool // it hit only what was inside the target
}

// markExcused marks what the contract allows. What is a known bug stays one.
func markExcused(e *evaluation) {
	if !slices.ContainsFunc(e.found.findings, Finding.isNew) {
		return
	}
	if e.terms.Contract.AfterUnknownCommit == contract.AtLeastOnce {
		e.asking()
	}
	setbacks := e.whole.setbacks()
	for i, f := range e.found.findings {
		if len(setbacks) > 0 && f.isNew() {
			e.found.findings[i].Excused = excuse(e, f, setbacks)
		}
	}
}

// excuse returns the line of the contract that allows a finding; empty: none does. It must allow what there is at
// both snapshots: a finding is reported once, and the final retry may make another row.
func excuse(e *evaluation, f Finding, setbacks []setback) string {
	line := ""
	for _, m := range []moment{atT1, atT2} {
		if f.Moment == history.T2Name && m == atT1 {
			continue
		}
		var met []setback
		var surplus int
		switch f.Kind {
		case Duplicate:
			met, surplus = surplusRows(e, f, m, setbacks)
		case EffectMismatch:
			met, surplus = surplusEffects(e, f, m, setbacks)
		}
		if surplus > len(met) || surplus < 0 || len(met) == 0 && line == "" {
			return ""
		}
		if len(met) > 0 {
			line = met[0].line + ": " + string(contract.AtLeastOnce)
		}
	}
	return line
}

// surplusRows returns how many rows there are besides those that are meant, and the setbacks that the intents met.
// A negative number cannot be excused.
func surplusRows(e *evaluation, f Finding, m moment, setbacks []setback) ([]setback, int) {
	for _, mg := range e.groups {
		if !slices.ContainsFunc(mg.traces, func(tr *trace) bool { return tr.intent.ID == f.Intent }) {
			continue
		}
		var until []*trace
		for _, tr := range mg.traces {
			until = append(until, tr.until(m))
		}
		rows, known := e.rowCount(m, mg.traces[0])
		met := metBy(mg, m, setbacks)
		if !known || f.Detail != "" || mg.traces[0].beforeRemoval != nil || severalOnOneSide(mg, met) {
			return nil, -1
		}
		return met, max(0, rows-max(e.terms.boundsOf(until).intended, 1))
	}
	return nil, -1
}

// surplusEffects is surplusRows for an effect. What is missing is a negative number.
func surplusEffects(e *evaluation, f Finding, m moment, setbacks []setback) ([]setback, int) {
	var met []setback
	surplus := 0
	for _, mg := range e.groups {
		tr := mg.traces[0]
		if tr.intent.ID != f.Intent {
			continue
		}
		met = append(met, metBy(mg, m, setbacks)...)
		for _, fx := range tr.operation.Effects {
			if fx.Name != f.Detail {
				continue
			}
			markers := map[string]bool{}
			for _, b := range tr.intent.Bodies {
				markers[b.Marker] = true
			}
			each, _ := perRow(fx)
			for marker := range markers {
				got, want, known := e.effectOf(m, fx, marker)
				surplus = add(surplus, got-want, each, known)
			}
		}
	}
	return met, surplus
}

// add adds what is beyond to the number of effects; it returns a negative number where that is less than none, unknown, or
// not so many whole ones.
func add(sum int, beyond, each float64, known bool) int {
	n := int(beyond/each + 0.5)
	if sum < 0 || !known || n < 0 || !near(float64(n)*each, beyond) {
		return -1
	}
	return sum + n
}

// metBy returns the setbacks that happened between the attempts of an intent, those of all intents with one marker.
func metBy(mg *markerGroup, m moment, setbacks []setback) []setback {
	var met []setback
	for _, tr := range mg.traces {
		attempts := tr.until(m).whole().attempts
		begun := filter(attempts, tried)
		for _, s := range setbacks {
			if slices.ContainsFunc(begun, func(a *classified) bool { return a.Start < s.at && s.hit(a, begun) }) {
				met = append(met, s)
			}
		}
	}
	return met
}

// hit reports that a setback came after a request had begun, and before it or another of its intent had ended. What was
// accepted may be executed again by itself when the target is back. A crash explains nothing of a request that was
// acknowledged before it, and what was answered then is not executed again because of it.
func (s setback) hit(a *classified, begun []*classified) bool {
	switch {
	case s.link:
		return a.latest > s.at
	case s.ends && (a.promised || a.outcome == Accepted):
		return true
	case s.ends && (a.latest <= s.at || acknowledgedBy(begun, s.at)):
		return false
	default:
		return slices.ContainsFunc(begun, func(b *classified) bool {
			ended := s.ends && !b.Complete && observed(b) != nil && insideAt(b, s.at)
			return b != a && !ended && (b.Start >= s.at || b.latest > s.at)
		})
	}
}

// acknowledgedBy reports that one of the requests was acknowledged as done by a moment.
func acknowledgedBy(begun []*classified, at history.Offset) bool {
	return slices.ContainsFunc(begun, func(a *classified) bool {
		return a.is(Acknowledged, Exists) && !a.promised && a.End <= at
	})
}

// tried reports that a request may have been executed.
func tried(a *classified) bool { return a.outcome != NotSent && !notTried(a) }

// severalOnOneSide reports that the target named two things to requests that came and ended between two setbacks: no
// setback explains them.
func severalOnOneSide(mg *markerGroup, met []setback) bool {
	named := map[int]string{}
	for _, tr := range mg.traces {
		for _, a := range tr.whole().attempts {
			side, whole := sideOf(a, met)
			if a.outcome != Acknowledged || a.identity == "" || !whole || tr.twin || goesOn(tr, side, met) {
				continue
			}
			if named[side] != "" && named[side] != a.identity {
				return true
			}
			named[side] = a.identity
		}
	}
	return false
}

// sideOf counts the setbacks before an attempt, and reports whether it ended before the next one.
func sideOf(a *classified, met []setback) (side int, whole bool) {
	for _, s := range met {
		if s.at <= a.Start {
			side++
		}
	}
	return side, side == len(met) || a.End <= met[side].at
}

// goesOn reports that a request from before the last setback may still have been executed after it.
func goesOn(tr *trace, side int, met []setback) bool {
	if side == 0 || met[side-1].ends {
		return false
	}
	at := met[side-1].at
	return slices.ContainsFunc(tr.whole().attempts, func(a *classified) bool { return a.Start < at && a.latest > at })
}
