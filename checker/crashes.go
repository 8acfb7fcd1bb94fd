package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// crashed reports whether something holds of an attempt and a crash beside it, after which the target was
// ready again.
func (c *court) crashed(s *story, holds func(history.Crash, *judged) bool) bool {
	return slices.ContainsFunc(s.attempts, func(a *judged) bool {
		k, struck := c.crashBeside(a.ID)
		return struck && k.Struck != 0 && k.Ready != 0 && holds(k, a)
	})
}

func (c *court) crashBeside(attempt string) (history.Crash, bool) {
	n := slices.IndexFunc(c.history.Crashes, func(k history.Crash) bool { return k.Attempt == attempt })
	if n < 0 {
		return history.Crash{}, false
	}
	return c.history.Crashes[n], true
}

// insideAt reports that a request was inside the target at a moment: it had arrived, and was not answered.
// Without a doorstep, the client's own times have to do.
func insideAt(a *judged, at history.Offset) bool {
	if p := watched(a); p != nil {
		return arrived(a) && p.Arrived <= at && (p.Answered == 0 || p.Answered >= at)
	}
	return a.Wrote != 0 && a.Wrote <= at && (a.Replied == 0 || a.Replied >= at)
}
