package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// measureBursts measures how far apart the members of each burst were released. It leaves out a burst that lost a
// member on its way.
func measureBursts(e *evaluation, t *tally) {
	for tr := range e.traces() {
		for _, members := range burstMembers(tr.attempts) {
			spread, gate := spreadOf(members, e.history.Run.Addresses)
			if spread < 0 || swept(members) {
				continue
			}
			t.spreads, t.members, t.atLane = append(t.spreads, spread), max(t.members, len(members)), t.atLane || gate == GateLane
		}
	}
}

// bursts says how close together the members of bursts were released; nil: there were none.
func (w *whole) bursts() *Bursts {
	spreads := w.sum.spreads
	if len(spreads) == 0 {
		return nil
	}
	slices.Sort(spreads)
	n := len(spreads)
	b := Bursts{Gate: GateDoorstep, Members: w.sum.members, Count: n, Median: spreads[n/2], P90: spreads[n*9/10], Most: spreads[n-1], Hits: hits(w.head.Run.Calibrated), Aimed: aimed(w.head.Run.Addresses)}
	switch {
	case w.sum.atLane && w.head.Run.Streams:
		b.Gate = GateWrite
	case w.sum.atLane:
		b.Gate = GateLane
	}
	return &b
}

// aimed says how well members were aimed at several addresses; nil: there is one.
func aimed(addresses []history.Address) *Aimed {
	if len(addresses) == 0 {
		return nil
	}
	a := Aimed{Addresses: len(addresses)}
	for _, one := range addresses {
		a.Error = max(a.Error, one.Varied/2)
	}
	return &a
}

// minCalibrations is how many calibrating bursts it takes to say anything about 95 of 100.
const minCalibrations = 20

// hits returns the worst of the scenario's steps: the one whose bursts are the least
// close. Nil: too few bursts were calibrated to say anything.
func hits(steps []history.Calibration) *Hits {
	var worst *Hits
	for _, c := range steps {
		n := len(c.Gaps)
		if n < minCalibrations {
			return nil
		}
		h := Hits{Bursts: n, Half: c.Gaps[(n-1)/2], Most: c.Gaps[(n*95+99)/100-1]}
		if worst == nil || h.Most > worst.Most {
			worst = &h
		}
	}
	return worst
}

// burstMembers groups the attempts of bursts by step.
func burstMembers(attempts []*classified) map[int][]*classified {
	steps := map[int][]*classified{}
	for _, a := range attempts {
		if a.Together {
			steps[a.Step] = append(steps[a.Step], a)
		}
	}
	return steps
}

// spreadOf returns the time from the first release to the last, or from the first arrival
// to the last at several addresses (half a trip after the release), and where they were
// released; negative: a member was not.
func spreadOf(members []*classified, addresses []history.Address) (history.Offset, Gate) {
	gate := GateDoorstep
	var times []history.Offset
	for _, a := range members {
		at, where := released(a)
		if at == 0 {
			return -1, gate
		}
		if where == GateLane {
			gate = GateLane
		}
		if n := a.Instance - 1; n >= 0 && n < len(addresses) {
			at += addresses[n].Trip / 2
		}
		times = append(times, at)
	}
	return slices.Max(times) - slices.Min(times), gate
}

// released returns when a member of a burst was released, and where; zero: it was not.
func released(a *classified) (history.Offset, Gate) {
	if a.Passage != nil && a.Passage.Held != 0 {
		return a.Passage.Released, GateDoorstep
	}
	return a.Wrote, GateLane
}

// writersOf says how often writers of a table were held back; nil: no burst asked for it.
func writersOf(w *whole) *Writers {
	var all Writers
	for _, run := range w.runs() {
		all.Of += len(run.head.Holdings)
		for _, h := range run.head.Holdings {
			if h.Shut == 0 {
				continue
			}
			all.Held++
			if !slices.Contains(all.Tables, h.Table) {
				all.Tables = append(all.Tables, h.Table)
			}
			if h.Waiting != nil {
				all.Waiting = append(all.Waiting, *h.Waiting)
			}
		}
	}
	if all.Of == 0 {
		return nil
	}
	slices.Sort(all.Waiting)
	return &all
}
