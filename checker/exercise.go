package checker

import (
	"math"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// exercise counts for how many intents each of the scenario's proofs held.
func (c *court) exercise() []Exercise {
	var all []Exercise
	rules := exerciseRules()
	for _, p := range c.history.Run.Exercised {
		holds := rules[proofs.Name(p.Name)]
		e := Exercise{Proof: p.Name, Text: sentence(proofs.Name(p.Name))}
		for _, f := range c.families {
			for _, s := range f.stories {
				if s.intent.Behind {
					continue
				}
				e.Of++
				if holds != nil && holds(c, f, s.until(atT1).whole()) {
					e.Held++
				}
			}
		}
		e.Needed = max(1, int(math.Ceil(p.AtLeast*float64(e.Of)-1e-9)))
		all = append(all, e)
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
func anyPair(attempts []*judged, holds func(a, b *judged) bool) bool {
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
func answered(s *story) bool {
	return slices.ContainsFunc(s.attempts, func(a *judged) bool { return a.Complete && !a.Probe && !keptOut(a) })
}

// watched returns the passage of an attempt if a connection was seen at the doorstep.
func watched(a *judged) *history.Passage {
	if a.Passage == nil || a.Passage.Opened == 0 {
		return nil
	}
	return a.Passage
}

// arrived reports that the whole request reached the target: seen at the doorstep, or answered.
func arrived(a *judged) bool {
	if p := watched(a); p != nil {
		return a.Sent > 0 && p.Up >= a.Sent
	}
	return a.Replied != 0
}

// keptOut reports that a request was refused at the door, so that nothing of the target was tried.
func keptOut(a *judged) bool { return a.outcome == Throttled || a.turnedAway() }

// letIn reports that the whole request reached the target and was not refused at the door.
func letIn(a *judged) bool { return arrived(a) && !keptOut(a) }

// leftRunning reports that the client's side was gone before the target had answered. Without a
// doorstep, a deadline that passed after the request was written has to do.
func leftRunning(a *judged) bool {
	if p := watched(a); p != nil {
		return arrived(a) && p.Left != 0 && (p.Answered == 0 || p.Answered > p.Left)
	}
	return a.ErrorKind == history.Timeout && a.Wrote != 0
}

func reached(attempts []*judged, wanted func(*judged) bool) bool {
	return slices.ContainsFunc(attempts, func(a *judged) bool { return wanted(a) && letIn(a) })
}

// overlapped reports that two requests were inside the target at once: each had arrived before the
// other was answered. Without a doorstep, the client's own times serve where no latency blurs them.
func (c *court) overlapped(a, b *judged) bool {
	beginA, endA, knownA := c.inside(a)
	beginB, endB, knownB := c.inside(b)
	return knownA && knownB && !keptOut(a) && !keptOut(b) && beginA < endB && beginB < endA
}

// inside returns when a request was inside the target, as far as it is known.
func (c *court) inside(a *judged) (begin, end history.Offset, known bool) {
	if p := watched(a); p != nil {
		end = p.Answered
		for _, o := range []history.Offset{p.Closed, p.Left} {
			if end == 0 {
				end = o
			}
		}
		return p.Arrived, end, arrived(a) && end != 0
	}
	if c.lane(a.Lane).Delay > 0 || a.Wrote == 0 || a.Replied == 0 {
		return 0, 0, false
	}
	return a.Wrote, a.Replied, true
}

func (c *court) lane(name string) history.Lane {
	for _, l := range c.history.Run.Lanes {
		if l.Name == name {
			return l
		}
	}
	return history.Lane{}
}

func (c *court) delayed(a *judged) bool {
	delay := c.lane(a.Lane).Delay
	if delay == 0 || a.Wrote == 0 {
		return false
	}
	return a.Replied-a.Wrote >= delay || a.ErrorKind == history.Timeout
}

// committed reports that a row of the story was there before the final probe.
func (c *court) committed(s *story) bool {
	for _, b := range s.intent.Bodies {
		if rows, known := c.rows(atT1, b.Marker); known && len(rows) > 0 {
			return true
		}
	}
	return false
}

// committedBefore reports that the row was seen while no answer had come, and a later attempt began
// after that.
func (c *court) committedBefore(s *story) bool {
	for _, seen := range c.sightings[s.intent.ID] {
		if seen.Rows == 0 {
			continue
		}
		lost := slices.ContainsFunc(s.attempts, func(a *judged) bool { return a.End < seen.At && a.outcome == Unknown && !a.Complete })
		retried := reached(s.attempts, func(a *judged) bool { return a.Start >= seen.At })
		if lost && retried {
			return true
		}
	}
	return false
}

// vanished reports that the request of an attempt did not get to the target whole.
func (c *court) vanished(s *story, a *judged) bool {
	if watched(a) != nil {
		return !arrived(a)
	}
	return len(s.attempts) == 1 && !c.committed(s)
}

func (c *court) distinctKeys(f *family) bool {
	answered := map[string]bool{}
	for _, s := range f.stories {
		for _, a := range s.attempts {
			if a.Complete && !a.Probe && !keptOut(a) {
				answered[a.Key] = true
			}
		}
	}
	return len(f.stories) > 1 && len(answered) >= len(f.stories)
}
