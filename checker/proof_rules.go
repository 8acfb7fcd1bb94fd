package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// exerciseRule reports whether a proof held for an intent. The trace ends before the final retry, and includes what
// came before a removal.
type exerciseRule func(e *evaluation, mg *markerGroup, tr *trace) bool

// exerciseRules has the rule of every proof, under its name in the table of proofs.
func exerciseRules() map[proofs.Name]exerciseRule {
	return map[proofs.Name]exerciseRule{
		proofs.Acknowledged:    func(_ *evaluation, _ *markerGroup, tr *trace) bool { return has(tr.attempts, Acknowledged) },
		proofs.Replayed:        pair(replayed),
		proofs.Overlapped:      overlappedOrTold,
		proofs.ResponseLost:    responseLost,
		proofs.RequestLost:     requestLost,
		proofs.CommittedBefore: func(e *evaluation, _ *markerGroup, tr *trace) bool { return committedBeforeRetry(e, tr) },
		proofs.RetriedRunning:  pair(func(e *evaluation, a, b *classified) bool { return b.Start > a.Start && e.overlapped(a, b) }),
		proofs.Delayed:         anyAttempt(delayed),
		proofs.GaveUp:          anyAttempt(func(_ *evaluation, a *classified) bool { return a.ErrorKind == history.Timeout && a.Sent > 0 }),
		proofs.LeftRunning:     anyAttempt(func(_ *evaluation, a *classified) bool { return leftRunning(a) }),
		proofs.BothBodies:      bothBodies,
		proofs.Corrected:       corrected,
		proofs.BothWays:        func(_ *evaluation, _ *markerGroup, tr *trace) bool { return bothWays(tr) },
		proofs.DistinctKeys:    func(e *evaluation, mg *markerGroup, _ *trace) bool { return distinctKeys(e, mg) },
		proofs.KeysDiffer: pair(func(_ *evaluation, a, b *classified) bool {
			return a.Key != b.Key && reachedTarget(a) && reachedTarget(b)
		}),
		proofs.KeyOmitted:    anyAttempt(func(_ *evaluation, a *classified) bool { return a.Key == "" && reachedTarget(a) }),
		proofs.Neighbours:    neighboursAnswered,
		proofs.Respelled:     respelled,
		proofs.TurnedAway:    turnedAway,
		proofs.AnsweredLarge: answeredWith(largeAnswer),
		proofs.AnsweredHuge:  answeredWith(hugeAnswer),
		proofs.AnsweredEmpty: pair(func(e *evaluation, a, b *classified) bool {
			return a.outcome == Acknowledged && a.Length == 0 && replayed(e, a, b)
		}),
		proofs.Expired:     pair(expired),
		proofs.RetriedLate: pair(retriedLate),
		proofs.Looked:      looked,
		proofs.WritesHeld:  writesHeld,
		proofs.Swept:       sweptInOrder,
		proofs.Crashed:     crashedInside,
		proofs.Restarted:   restarted,
		proofs.LinkDelayed: anyAttempt(linkDelayed),
		proofs.LinkCut:     anyAttempt(linkCut),
		proofs.LinkAway:    pair(linkAway),
		proofs.Flushed:     func(e *evaluation, _ *markerGroup, tr *trace) bool { return flushed(e, tr) },
		proofs.Removed:     removed,
		proofs.Instances:   pair(severalInstances),
		proofs.WorkedLong:  workedLong,
		proofs.EffectSeen: func(e *evaluation, _ *markerGroup, tr *trace) bool {
			return e.history.T1 != nil && seen(e, tr, e.history.T1.At)
		},
		proofs.EffectDisturbed: disturbed,
		proofs.EffectCrashed:   crashedAtEffect,
	}
}

// From how many bytes on an answer does not fit into what many records hold: a column of text, or a document of a store.
const (
	largeAnswer = 64 << 10
	hugeAnswer  = 1 << 20
)

// answeredWith is the rule that a request was acknowledged with so many bytes or more, and came again.
func answeredWith(bytes int64) exerciseRule {
	return pair(func(e *evaluation, a, b *classified) bool {
		return a.outcome == Acknowledged && a.Length >= bytes && replayed(e, a, b)
	})
}

// pair is the rule that something holds between two attempts, in the order of sending.
func pair(holds func(e *evaluation, a, b *classified) bool) exerciseRule {
	return func(e *evaluation, _ *markerGroup, tr *trace) bool {
		return anyPair(tr.attempts, func(a, b *classified) bool { return holds(e, a, b) })
	}
}

// anyAttempt is the rule that something holds of an attempt.
func anyAttempt(holds func(e *evaluation, a *classified) bool) exerciseRule {
	return func(e *evaluation, _ *markerGroup, tr *trace) bool {
		return slices.ContainsFunc(tr.attempts, func(a *classified) bool { return holds(e, a) })
	}
}

// replayed reports that an equal request reached the target after the first was answered. What was throttled, or
// refused for want of a login, was not answered by what makes rows: a repetition of it is no replay.
func replayed(_ *evaluation, a, b *classified) bool {
	return a.Complete && !notTried(a) && reachedTarget(b) && a.body == b.body && a.Key == b.Key && b.Start >= a.End
}

// severalInstances reports that two requests reached different instances of the target. Instance 0 says that there is
// one, or that it is not known which.
func severalInstances(_ *evaluation, a, b *classified) bool {
	return reachedTarget(a) && reachedTarget(b) && a.Instance > 0 && b.Instance > 0 && a.Instance != b.Instance
}

// overlappedOrTold reports that two requests were inside at once, or that one was told so. A target that answers "in
// progress" proves the overlap itself.
func overlappedOrTold(e *evaluation, _ *markerGroup, tr *trace) bool {
	return has(tr.attempts, InProgress) || anyPair(tr.attempts, e.overlapped)
}

// workedLong reports that a request took as long as it was made to take, and that another was
// inside the target meanwhile: this is what its scenario is for. Nine tenths are enough, since the
// target's clock may be a little off the driver's.
func workedLong(e *evaluation, _ *markerGroup, tr *trace) bool {
	long := func(a *classified) bool { return a.End-a.Start >= tr.intent.Work*9/10 }
	return tr.intent.Work > 0 && anyPair(tr.attempts, func(a, b *classified) bool { return (long(a) || long(b)) && e.overlapped(a, b) })
}

// respelled reports that a request in another spelling was answered, and not for who its sender is. A server error is the answer to two
// keys that are taken for none.
func respelled(e *evaluation, _ *markerGroup, tr *trace) bool {
	return hasTwoKeys(tr) && failsForItsKey(e, tr) || slices.ContainsFunc(tr.attempts, func(a *classified) bool {
		return a.respelled() && !a.otherWay() && (a.is(Acknowledged, Accepted, Exists) || a.mismatch || a.headersRespelled() && a.outcome == Rejected && !a.refusedSender())
	})
}

// responseLost reports that a request arrived, its answer was lost, and its row is there. Without
// the row, the request and not the answer may have been lost.
func responseLost(e *evaluation, _ *markerGroup, tr *trace) bool {
	return e.committed(tr) && slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.outcome == Unknown && !a.Complete && arrived(a) })
}

// requestLost reports that a request was sent and did not reach the target whole.
func requestLost(e *evaluation, _ *markerGroup, tr *trace) bool {
	return slices.ContainsFunc(tr.attempts, func(a *classified) bool {
		return a.outcome == NotSent || !a.Complete && a.Sent > 0 && vanished(e, tr, a)
	})
}

// bothBodies reports that a request with each body reached the target.
func bothBodies(_ *evaluation, _ *markerGroup, tr *trace) bool {
	return reached(tr.attempts, func(a *classified) bool { return a.body == history.Original }) &&
		reached(tr.attempts, func(a *classified) bool { return a.body == history.Altered })
}

// neighboursAnswered reports that the intent and one of its neighbours were answered.
func neighboursAnswered(e *evaluation, _ *markerGroup, tr *trace) bool {
	return answered(tr) && slices.ContainsFunc(e.neighbours[tr.intent.Kin], func(other *trace) bool {
		return other.intent.ID != tr.intent.ID && answered(other)
	})
}

// looked reports that the database was asked after an acknowledgement.
func looked(e *evaluation, _ *markerGroup, tr *trace) bool {
	return slices.ContainsFunc(e.sightings[tr.intent.ID], func(seen history.Sighting) bool {
		return slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.outcome == Acknowledged && a.End < seen.At })
	})
}

// writesHeld reports that writers were held back for the intent while two requests were inside the target.
func writesHeld(e *evaluation, mg *markerGroup, tr *trace) bool {
	return slices.ContainsFunc(e.history.Holdings, func(h history.Holding) bool {
		return h.Intent == tr.intent.ID && h.Shut != 0
	}) && overlappedOrTold(e, mg, tr)
}

// sweptInOrder reports that the second request of a sweep was released after the first, and that both reached the
// target. Where the time between them is not known, no offset was tried.
func sweptInOrder(_ *evaluation, _ *markerGroup, tr *trace) bool {
	return slices.ContainsFunc(sweepsOf(tr.attempts), func(pair [2]*classified) bool {
		offset, known := between(pair[0], pair[1])
		return known && offset > 0 && reachedTarget(pair[0]) && reachedTarget(pair[1])
	})
}

// crashedInside reports that the target was killed while a request was inside it, or after it had accepted one, whose work is then still to be
// done or under way.
func crashedInside(e *evaluation, _ *markerGroup, tr *trace) bool {
	return crashedBeside(e, tr, func(k history.Crash, a *classified) bool {
		return insideAt(a, k.Struck) || a.End <= k.Struck && (a.promised || a.outcome == Accepted)
	})
}

// crashedAtEffect reports that a message at a sink released the kill.
func crashedAtEffect(e *evaluation, _ *markerGroup, tr *trace) bool {
	return crashedBeside(e, tr, func(k history.Crash, _ *classified) bool { return k.Message != "" })
}

// restarted reports that the target was killed after an answer, and that an equal request reached it when it was ready
// again.
func restarted(e *evaluation, _ *markerGroup, tr *trace) bool {
	return crashedBeside(e, tr, func(k history.Crash, a *classified) bool {
		return a.Complete && !notTried(a) && a.End <= k.Struck && reached(tr.attempts, func(b *classified) bool {
			return b.Start >= k.Ready && a.body == b.body && a.Key == b.Key
		})
	})
}

// removed reports that an acknowledged row was surely removed, and that another request reached the target
// afterwards.
func removed(_ *evaluation, _ *markerGroup, tr *trace) bool {
	return tr.beforeRemoval != nil && !tr.removalUnconfirmed && has(tr.beforeRemoval.attempts, Acknowledged) &&
		reached(tr.attempts[len(tr.beforeRemoval.attempts):], func(*classified) bool { return true })
}
