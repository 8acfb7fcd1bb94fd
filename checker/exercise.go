package checker

import (
	"math"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// exercise counts for how many intents each of the scenario's proofs held.
func measureExercise(e *evaluation) []Exercise {
	var all []Exercise
	rules := exerciseRules()
	for _, p := range e.history.Run.Exercised {
		holds := rules[proofs.Name(p.Name)]
		shown := Exercise{Proof: p.Name, Text: sentence(proofs.Name(p.Name))}
		for _, mg := range e.groups {
			for _, tr := range mg.traces {
				if tr.intent.Behind {
					continue
				}
				shown.Of++
				if holds != nil && holds(e, mg, tr.until(atT1).whole()) {
					shown.Held++
				}
			}
		}
		shown.Needed = max(1, int(math.Ceil(p.AtLeast*float64(shown.Of)-1e-9)))
		all = append(all, shown)
	}
	return all
}

// sentence says in words what a proof shows.
func sentence(p proofs.Name) string {
	if row, found := proofs.Of(p); found {
		return row.Sentence
	}
	return "an unknown proof, which never holds"
}

// anyPair reports whether a relation holds between any two attempts, in the order of sending.
func anyPair(attempts []*classified, holds func(a, b *classified) bool) bool {
	for i, a := range attempts {
		for _, b := range attempts[i+1:] {
			if holds(a, b) {
				return true
			}
		}
	}
	return false
}

// answered reports that an intent was let in and got a complete answer before the final probe.
func answered(tr *trace) bool {
	return slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.Complete && !a.Probe && !notTried(a) })
}

// watched returns the passage of an attempt if a connection was seen at the doorstep.
func observed(a *classified) *history.Passage {
	if a.Passage == nil || a.Passage.Opened == 0 {
		return nil
	}
	return a.Passage
}

// arrived reports that the whole request reached the target: seen at the doorstep, or answered.
func arrived(a *classified) bool {
	if p := observed(a); p != nil {
		return a.Sent > 0 && p.Up >= a.Sent
	}
	return a.Replied != 0
}

// keptOut reports that a request was refused at the door, so that nothing of the target was tried.
func notTried(a *classified) bool { return a.outcome == Throttled || a.unauthenticated() }

// letIn reports that the whole request reached the target and was not refused at the door.
func reachedTarget(a *classified) bool { return arrived(a) && !notTried(a) }

// leftRunning reports that the client's side was gone before the target had answered. Without a
// doorstep, a deadline that passed after the request was written has to do.
func leftRunning(a *classified) bool {
	if p := observed(a); p != nil {
		return arrived(a) && p.Left != 0 && (p.Answered == 0 || p.Answered > p.Left)
	}
	return a.ErrorKind == history.Timeout && a.Wrote != 0
}

func reached(attempts []*classified, wanted func(*classified) bool) bool {
	return slices.ContainsFunc(attempts, func(a *classified) bool { return wanted(a) && reachedTarget(a) })
}

// overlapped reports that two requests were inside the target at once: each had arrived before the
// other was answered. Without a doorstep, the client's own times serve where no latency blurs them.
func (e *evaluation) overlapped(a, b *classified) bool {
	beginA, endA, knownA := e.inside(a)
	beginB, endB, knownB := e.inside(b)
	return knownA && knownB && !notTried(a) && !notTried(b) && beginA < endB && beginB < endA
}

// inside returns when a request was inside the target, as far as it is known.
func (e *evaluation) inside(a *classified) (begin, end history.Offset, known bool) {
	if p := observed(a); p != nil {
		end = p.Answered
		for _, o := range []history.Offset{p.Closed, p.Left} {
			if end == 0 {
				end = o
			}
		}
		return p.Arrived, end, arrived(a) && end != 0
	}
	if e.lane(a.Lane).Delay > 0 || a.Wrote == 0 || a.Replied == 0 {
		return 0, 0, false
	}
	return a.Wrote, a.Replied, true
}

func (e *evaluation) lane(name string) history.Lane {
	for _, l := range e.history.Run.Lanes {
		if l.Name == name {
			return l
		}
	}
	return history.Lane{}
}

func delayed(e *evaluation, a *classified) bool {
	delay := e.lane(a.Lane).Delay
	if delay == 0 || a.Wrote == 0 {
		return false
	}
	return a.Replied-a.Wrote >= delay || a.ErrorKind == history.Timeout
}

// committed reports that a row of the story was there before the final probe.
func (e *evaluation) committed(tr *trace) bool {
	for _, b := range tr.intent.Bodies {
		if rows, known := e.rows(atT1, b.Marker); known && len(rows) > 0 {
			return true
		}
	}
	return false
}

// committedBefore reports that the row was seen while no answer had come, and a later attempt began
// after that.
func committedBeforeRetry(e *evaluation, tr *trace) bool {
	for _, seen := range e.sightings[tr.intent.ID] {
		if seen.Rows == 0 {
			continue
		}
		lost := slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.End < seen.At && a.outcome == Unknown && !a.Complete })
		retried := reached(tr.attempts, func(a *classified) bool { return a.Start >= seen.At })
		if lost && retried {
			return true
		}
	}
	return false
}

// vanished reports that the request of an attempt did not get to the target whole.
func vanished(e *evaluation, tr *trace, a *classified) bool {
	if observed(a) != nil {
		return !arrived(a)
	}
	return len(tr.attempts) == 1 && !e.committed(tr)
}

func distinctKeys(e *evaluation, mg *markerGroup) bool {
	answered := map[string]bool{}
	for _, tr := range mg.traces {
		for _, a := range tr.attempts {
			if a.Complete && !a.Probe && !notTried(a) {
				answered[a.Key] = true
			}
		}
	}
	return len(mg.traces) > 1 && len(answered) >= len(mg.traces)
}
