package checker

import (
	"math"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// Proof is a condition that shows that a scenario really happened.
type Proof string

// The proofs of exercise.
const (
	ProofAcknowledged    Proof = "acknowledged"
	ProofReplayed        Proof = "replayed"
	ProofOverlapped      Proof = "overlapped"
	ProofResponseLost    Proof = "response-lost"
	ProofRequestLost     Proof = "request-lost"
	ProofCommittedBefore Proof = "committed-before-retry"
	ProofRetriedRunning  Proof = "retried-while-running"
	ProofDelayed         Proof = "delayed"
	ProofGaveUp          Proof = "gave-up"
	ProofLeftRunning     Proof = "left-while-running"
	ProofBothBodies      Proof = "both-bodies"
	ProofDistinctKeys    Proof = "distinct-keys"
	ProofKeysDiffer      Proof = "keys-differ"
	ProofKeyOmitted      Proof = "key-omitted"
	ProofNeighbours      Proof = "neighbours-answered"
	ProofRespelled       Proof = "respelled"
	ProofExpired         Proof = "expired"
	ProofLooked          Proof = "looked"
	ProofWritesHeld      Proof = "writes-held"
	ProofSwept           Proof = "swept"
	ProofCrashed         Proof = "crashed"
	ProofRestarted       Proof = "restarted"
	ProofLinkDelayed     Proof = "link-delayed"
	ProofLinkCut         Proof = "link-cut"
	ProofLinkAway        Proof = "link-away"
	ProofFlushed         Proof = "flushed"
	ProofRemoved         Proof = "removed"
	ProofInstances       Proof = "several-instances"
)

// exercise counts for how many intents each of the scenario's proofs held.
func (c *court) exercise() []Exercise {
	var all []Exercise
	for _, p := range c.history.Run.Exercised {
		e := Exercise{Proof: p.Name, Text: explain(Proof(p.Name))}
		for _, f := range c.families {
			for _, s := range f.stories {
				if s.intent.Behind {
					continue
				}
				e.Of++
				if c.holds(Proof(p.Name), f, s.until(atT1).whole()) {
					e.Held++
				}
			}
		}
		e.Needed = max(1, int(math.Ceil(p.AtLeast*float64(e.Of)-1e-9)))
		all = append(all, e)
	}
	return all
}

// explain says in words what a proof shows.
func explain(p Proof) string {
	switch p {
	case ProofAcknowledged:
		return "a plain create was acknowledged"
	case ProofReplayed:
		return "the same request came again after its answer"
	case ProofOverlapped:
		return "two or more requests were inside the target at once"
	case ProofResponseLost:
		return "the client got no answer, and the row is there"
	case ProofRequestLost:
		return "a request was sent and never reached the target"
	case ProofCommittedBefore:
		return "the row was seen in the database before the retry was sent"
	case ProofRetriedRunning:
		return "the retry reached the target while the first request was still running"
	case ProofDelayed:
		return "the answer took at least as long as the lane's latency"
	case ProofGaveUp:
		return "the client's deadline passed while the request was on its way or running"
	case ProofLeftRunning:
		return "the client was gone while the target was still working on its request"
	case ProofBothBodies:
		return "both bodies reached the target under one key"
	case ProofDistinctKeys:
		return "another intent with the same body and another key was answered"
	case ProofKeysDiffer:
		return "one intent reached the target with different keys"
	case ProofKeyOmitted:
		return "a request without a key reached the target"
	case ProofNeighbours:
		return "it was answered, and so was a neighbour that it may be mistaken for"
	case ProofRespelled:
		return "the same request in another spelling was taken for a repetition, or for another request"
	case ProofExpired:
		return "the same request came again after its key was to be forgotten"
	case ProofLooked:
		return "the database was asked after an acknowledgement"
	case ProofWritesHeld:
		return "the writers of the table were held back while two or more requests were inside the target"
	case ProofSwept:
		return "the second request was let go at its own time, and both reached the target"
	case ProofCrashed:
		return "the target's process was killed while the request was inside it, and started again"
	case ProofRestarted:
		return "the target's process was killed after its answer, and the same request came again"
	case ProofLinkDelayed:
		return "a question passed a slow link and waited for its answer while a request was inside the target"
	case ProofLinkCut:
		return "a link of the target broke while a request was inside"
	case ProofLinkAway:
		return "a link of the target broke, and the same request came again while it was still broken"
	case ProofFlushed:
		return "the target's store lost what it held, and then the same request came again"
	case ProofRemoved:
		return "what was made was removed, and the same wish came again"
	case ProofInstances:
		return "two or more instances of the target had a request of it"
	default:
		return "an unknown proof, which never holds"
	}
}

func (c *court) holds(p Proof, f *family, s *story) bool {
	all := s.attempts
	switch p {
	case ProofAcknowledged:
		return has(all, Acknowledged)
	case ProofReplayed:
		return anyPair(all, func(a, b *judged) bool {
			return a.Complete && !keptOut(a) && letIn(b) && a.body == b.body && a.Key == b.Key && b.Start >= a.End
		})
	case ProofOverlapped:
		return has(all, InProgress) || anyPair(all, c.overlapped)
	case ProofResponseLost:
		return c.committed(s) && slices.ContainsFunc(all, func(a *judged) bool { return a.outcome == Unknown && !a.Complete && arrived(a) })
	case ProofRequestLost:
		return slices.ContainsFunc(all, func(a *judged) bool { return a.outcome == NotSent || !a.Complete && a.Sent > 0 && c.vanished(s, a) })
	case ProofCommittedBefore:
		return c.committedBefore(s)
	case ProofRetriedRunning:
		return anyPair(all, func(a, b *judged) bool { return b.Start > a.Start && c.overlapped(a, b) })
	case ProofDelayed:
		return slices.ContainsFunc(all, c.delayed)
	case ProofGaveUp:
		return slices.ContainsFunc(all, func(a *judged) bool { return a.ErrorKind == history.Timeout && a.Sent > 0 })
	case ProofLeftRunning:
		return slices.ContainsFunc(all, leftRunning)
	case ProofBothBodies:
		return reached(all, func(a *judged) bool { return a.body == history.Original }) && reached(all, func(a *judged) bool { return a.body == history.Altered })
	case ProofDistinctKeys:
		return c.distinctKeys(f)
	case ProofKeysDiffer:
		return anyPair(all, func(a, b *judged) bool { return a.Key != b.Key && letIn(a) && letIn(b) })
	case ProofKeyOmitted:
		return reached(all, func(a *judged) bool { return a.Key == "" })
	case ProofNeighbours:
		return answered(s) && slices.ContainsFunc(c.kin[s.intent.Kin], func(other *story) bool {
			return other.intent.ID != s.intent.ID && answered(other)
		})
	case ProofRespelled:
		return slices.ContainsFunc(all, func(a *judged) bool {
			return a.respelled() && (a.is(Acknowledged, Accepted, Exists) || a.mismatch)
		})
	case ProofExpired:
		return anyPair(all, c.expired)
	case ProofLooked:
		return slices.ContainsFunc(c.sightings[s.intent.ID], func(seen history.Sighting) bool {
			return slices.ContainsFunc(all, func(a *judged) bool { return a.outcome == Acknowledged && a.End < seen.At })
		})
	case ProofWritesHeld:
		return slices.ContainsFunc(c.history.Holdings, func(h history.Holding) bool {
			return h.Intent == s.intent.ID && h.Shut != 0
		}) && (has(all, InProgress) || anyPair(all, c.overlapped))
	case ProofSwept:
		return slices.ContainsFunc(sweepsOf(all), func(pair [2]*judged) bool {
			offset, known := between(pair[0], pair[1])
			return known && offset > 0 && letIn(pair[0]) && letIn(pair[1])
		})
	case ProofCrashed:
		return c.crashed(s, func(k history.Crash, a *judged) bool { return insideAt(a, k.Struck) })
	case ProofRestarted:
		return c.crashed(s, func(k history.Crash, a *judged) bool {
			return a.Complete && !keptOut(a) && a.End <= k.Struck && reached(all, func(b *judged) bool {
				return b.Start >= k.Ready && a.body == b.body && a.Key == b.Key
			})
		})
	case ProofLinkDelayed:
		return slices.ContainsFunc(all, c.linkDelayed)
	case ProofLinkCut:
		return slices.ContainsFunc(all, c.linkCut)
	case ProofLinkAway:
		return anyPair(all, c.linkAway)
	case ProofFlushed:
		return c.flushed(s)
	case ProofRemoved:
		return s.past != nil && !s.void && has(s.past.attempts, Acknowledged) && reached(all[len(s.past.attempts):], func(*judged) bool { return true })
	case ProofInstances:
		return anyPair(all, func(a, b *judged) bool {
			return letIn(a) && letIn(b) && a.Instance > 0 && b.Instance > 0 && a.Instance != b.Instance
		})
	default:
		return false
	}
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
