package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// insideAt reports that a request was inside the target at a moment: it had arrived, and was not answered.
// Without a doorstep, the client's own times have to do.
func insideAt(a *classified, at history.Offset) bool {
	if p := observed(a); p != nil {
		return arrived(a) && p.Arrived <= at && (p.Answered == 0 || p.Answered >= at)
	}
	return a.Wrote != 0 && a.Wrote <= at && (a.Replied == 0 || a.Replied >= at)
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
