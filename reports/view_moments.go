package reports

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// The moments of an attempt, and the times between them, as time lines name and explain them.
const (
	momentBegun      = "begun"
	momentRetry      = "retry"
	momentProbe      = "probe"
	momentWritten    = "written"
	momentHeld       = "held"
	momentArrived    = "arrived"
	momentInside     = "inside"
	momentUnanswered = "unanswered"
	momentAnswered   = "answered"
	momentHeard      = "heard"
	momentTimeout    = "timeout"
	momentBroken     = "broken"
	momentGone       = "gone"
	momentEndless    = "endless"
)

// momentNames lists the moments in the order of a legend.
func momentNames() []string {
	return []string{
		momentBegun, momentRetry, momentProbe, momentWritten, momentHeld, momentArrived, momentInside, momentUnanswered,
		momentAnswered, momentHeard, momentTimeout, momentBroken, momentGone, momentEndless,
	}
}

// momentText explains a moment.
func momentText(name string) string {
	switch name {
	case momentBegun:
		return "attempt starts"
	case momentRetry:
		return "retry starts"
	case momentProbe:
		return "final retry starts"
	case momentWritten:
		return "request written"
	case momentHeld:
		return "held in front of the target"
	case momentArrived:
		return "request at the target"
	case momentInside:
		return "inside the target"
	case momentUnanswered:
		return "inside the target, no answer"
	case momentAnswered:
		return "target answers"
	case momentHeard:
		return "client has the answer"
	case momentTimeout:
		return "client times out"
	case momentGone:
		return "after the client gave up"
	case momentEndless:
		return "no end recorded"
	default:
		return "connection ends without an answer"
	}
}

// idleText explains where an axis leaves time out.
const idleText = "idle time left out"

// moments are the times that a time line shows of an attempt, the start first. An attempt without any is not drawn.
func moments(a history.Attempt) []history.Offset {
	all := []history.Offset{a.Start, a.Wrote, a.End}
	if p := a.Passage; p != nil {
		all = append(all, p.Arrived, p.Answered)
	}
	return slices.DeleteFunc(all, func(o history.Offset) bool { return o == 0 })
}

// firstMoment names the moment at which an attempt starts.
func firstMoment(a history.Attempt) string {
	switch {
	case a.Probe:
		return momentProbe
	case a.Retry > 0:
		return momentRetry
	default:
		return momentBegun
	}
}

// lastMoment names the moment at which an attempt ends.
func lastMoment(a history.Attempt) string {
	switch {
	case a.Complete:
		return momentHeard
	case a.ErrorKind == history.Timeout:
		return momentTimeout
	default:
		return momentBroken
	}
}
