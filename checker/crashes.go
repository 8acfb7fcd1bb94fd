package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// crashed reports whether something holds of an attempt and a crash beside it, after which the target was
// ready again.
func crashedBeside(e *evaluation, tr *trace, holds func(history.Crash, *classified) bool) bool {
	return slices.ContainsFunc(tr.attempts, func(a *classified) bool {
		k, struck := e.crashBeside(a.ID)
		return struck && k.Struck != 0 && k.Ready != 0 && holds(k, a)
	})
}

func (e *evaluation) crashBeside(attempt string) (history.Crash, bool) {
	n := slices.IndexFunc(e.history.Crashes, func(k history.Crash) bool { return k.Attempt == attempt })
	if n < 0 {
		return history.Crash{}, false
	}
	return e.history.Crashes[n], true
}

// insideAt reports that a request was inside the target at a moment: it had arrived, and was not answered.
// Without a doorstep, the client's own times have to do.
func insideAt(a *classified, at history.Offset) bool {
	if p := observed(a); p != nil {
		return arrived(a) && p.Arrived <= at && (p.Answered == 0 || p.Answered >= at)
	}
	return a.Wrote != 0 && a.Wrote <= at && (a.Replied == 0 || a.Replied >= at)
}
