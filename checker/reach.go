package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// insideAt reports that a request was inside the target at a moment: it had arrived, and was not answered. Without an
// upstream tap the client's times have to do. What was never answered is inside from then on.
func insideAt(a *classified, at history.Offset) bool {
	if p := observed(a); p != nil {
		return arrived(a) && p.Arrived <= at && (p.Answered == 0 || p.Answered >= at)
	}
	return a.Wrote != 0 && a.Wrote <= at && (a.Replied == 0 || a.Replied >= at)
}

// answered reports that an intent got a complete answer before the final retry, and was not rejected at the entry.
func answered(tr *trace) bool {
	return slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.Complete && !a.Probe && !notTried(a) })
}

// observed returns the passage of an attempt if the upstream tap saw a connection; nil: it did not.
func observed(a *classified) *history.Passage {
	if a.Passage == nil || a.Passage.Opened == 0 {
		return nil
	}
	return a.Passage
}

// arrived reports that the whole request reached the target: the upstream tap saw it, or it was answered.
func arrived(a *classified) bool {
	if p := observed(a); p != nil {
		return a.Sent > 0 && p.Up >= a.Sent
	}
	return a.Replied != 0
}

// notTried reports that a request was rejected at the entry, throttled or unauthenticated, so that nothing of the
// target was tried.
func notTried(a *classified) bool { return a.outcome == Throttled || a.unauthenticated() }

// reachedTarget reports that the whole request reached the target and was not rejected at the entry.
func reachedTarget(a *classified) bool { return arrived(a) && !notTried(a) }

// leftRunning reports that the client was gone before the target answered. Without an upstream tap, a deadline that
// passed after the request was written counts. A tap tells more: whether the connection closed before the answer.
func leftRunning(a *classified) bool {
	if p := observed(a); p != nil {
		return arrived(a) && p.Left != 0 && (p.Answered == 0 || p.Answered > p.Left)
	}
	return a.ErrorKind == history.Timeout && a.Wrote != 0
}

// reached reports that one of the wanted attempts reached the target.
func reached(attempts []*classified, wanted func(*classified) bool) bool {
	return slices.ContainsFunc(attempts, func(a *classified) bool { return wanted(a) && reachedTarget(a) })
}
