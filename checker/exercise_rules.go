package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// exerciseRule reports whether a proof held for an intent: a story that ends at T1, with what came before a
// removal in it, in its family.
type exerciseRule func(c *court, f *family, s *story) bool

// exerciseRules has the rule of every proof, under the name that the table of proofs has for it.
func exerciseRules() map[proofs.Name]exerciseRule {
	return map[proofs.Name]exerciseRule{
		proofs.Acknowledged:    func(_ *court, _ *family, s *story) bool { return has(s.attempts, Acknowledged) },
		proofs.Replayed:        pair(replayed),
		proofs.Overlapped:      overlappedOrTold,
		proofs.ResponseLost:    responseLost,
		proofs.RequestLost:     requestLost,
		proofs.CommittedBefore: func(c *court, _ *family, s *story) bool { return c.committedBefore(s) },
		proofs.RetriedRunning:  pair(func(c *court, a, b *judged) bool { return b.Start > a.Start && c.overlapped(a, b) }),
		proofs.Delayed:         anyAttempt((*court).delayed),
		proofs.GaveUp:          anyAttempt(func(_ *court, a *judged) bool { return a.ErrorKind == history.Timeout && a.Sent > 0 }),
		proofs.LeftRunning:     anyAttempt(func(_ *court, a *judged) bool { return leftRunning(a) }),
		proofs.BothBodies:      bothBodies,
		proofs.DistinctKeys:    func(c *court, f *family, _ *story) bool { return c.distinctKeys(f) },
		proofs.KeysDiffer:      pair(func(_ *court, a, b *judged) bool { return a.Key != b.Key && letIn(a) && letIn(b) }),
		proofs.KeyOmitted:      anyAttempt(func(_ *court, a *judged) bool { return a.Key == "" && letIn(a) }),
		proofs.Neighbours:      neighboursAnswered,
		proofs.Respelled: anyAttempt(func(_ *court, a *judged) bool {
			return a.respelled() && (a.is(Acknowledged, Accepted, Exists) || a.mismatch)
		}),
		proofs.Expired:     pair((*court).expired),
		proofs.Looked:      looked,
		proofs.WritesHeld:  writesHeld,
		proofs.Swept:       sweptInOrder,
		proofs.Crashed:     crashedInside,
		proofs.Restarted:   restarted,
		proofs.LinkDelayed: anyAttempt((*court).linkDelayed),
		proofs.LinkCut:     anyAttempt((*court).linkCut),
		proofs.LinkAway:    pair((*court).linkAway),
		proofs.Flushed:     func(c *court, _ *family, s *story) bool { return c.flushed(s) },
		proofs.Removed:     removed,
		proofs.Instances:   pair(severalInstances),
	}
}

// pair is the rule that something holds between two attempts, in the order of sending.
func pair(holds func(c *court, a, b *judged) bool) exerciseRule {
	return func(c *court, _ *family, s *story) bool {
		return anyPair(s.attempts, func(a, b *judged) bool { return holds(c, a, b) })
	}
}

// anyAttempt is the rule that something holds of an attempt.
func anyAttempt(holds func(c *court, a *judged) bool) exerciseRule {
	return func(c *court, _ *family, s *story) bool {
		return slices.ContainsFunc(s.attempts, func(a *judged) bool { return holds(c, a) })
	}
}

func replayed(_ *court, a, b *judged) bool {
	return a.Complete && !keptOut(a) && letIn(b) && a.body == b.body && a.Key == b.Key && b.Start >= a.End
}

func severalInstances(_ *court, a, b *judged) bool {
	return letIn(a) && letIn(b) && a.Instance > 0 && b.Instance > 0 && a.Instance != b.Instance
}

func overlappedOrTold(c *court, _ *family, s *story) bool {
	return has(s.attempts, InProgress) || anyPair(s.attempts, c.overlapped)
}

func responseLost(c *court, _ *family, s *story) bool {
	return c.committed(s) && slices.ContainsFunc(s.attempts, func(a *judged) bool { return a.outcome == Unknown && !a.Complete && arrived(a) })
}

func requestLost(c *court, _ *family, s *story) bool {
	return slices.ContainsFunc(s.attempts, func(a *judged) bool {
		return a.outcome == NotSent || !a.Complete && a.Sent > 0 && c.vanished(s, a)
	})
}

func bothBodies(_ *court, _ *family, s *story) bool {
	return reached(s.attempts, func(a *judged) bool { return a.body == history.Original }) &&
		reached(s.attempts, func(a *judged) bool { return a.body == history.Altered })
}

func neighboursAnswered(c *court, _ *family, s *story) bool {
	return answered(s) && slices.ContainsFunc(c.kin[s.intent.Kin], func(other *story) bool {
		return other.intent.ID != s.intent.ID && answered(other)
	})
}

func looked(c *court, _ *family, s *story) bool {
	return slices.ContainsFunc(c.sightings[s.intent.ID], func(seen history.Sighting) bool {
		return slices.ContainsFunc(s.attempts, func(a *judged) bool { return a.outcome == Acknowledged && a.End < seen.At })
	})
}

func writesHeld(c *court, f *family, s *story) bool {
	return slices.ContainsFunc(c.history.Holdings, func(h history.Holding) bool {
		return h.Intent == s.intent.ID && h.Shut != 0
	}) && overlappedOrTold(c, f, s)
}

func sweptInOrder(_ *court, _ *family, s *story) bool {
	return slices.ContainsFunc(sweepsOf(s.attempts), func(pair [2]*judged) bool {
		offset, known := between(pair[0], pair[1])
		return known && offset > 0 && letIn(pair[0]) && letIn(pair[1])
	})
}

func crashedInside(c *court, _ *family, s *story) bool {
	return c.crashed(s, func(k history.Crash, a *judged) bool { return insideAt(a, k.Struck) })
}

func restarted(c *court, _ *family, s *story) bool {
	return c.crashed(s, func(k history.Crash, a *judged) bool {
		return a.Complete && !keptOut(a) && a.End <= k.Struck && reached(s.attempts, func(b *judged) bool {
			return b.Start >= k.Ready && a.body == b.body && a.Key == b.Key
		})
	})
}

func removed(_ *court, _ *family, s *story) bool {
	return s.past != nil && !s.void && has(s.past.attempts, Acknowledged) &&
		reached(s.attempts[len(s.past.attempts):], func(*judged) bool { return true })
}
