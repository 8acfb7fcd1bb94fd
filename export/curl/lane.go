package curl

import (
	"cmp"
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// lane is what a script does in place of the faults of a lane. The zero value does nothing, and lacks nothing.
type lane struct {
	delay, jitter time.Duration // until the request is there, so much of the client's time is over
	rate          int64         // KB/s of the request; 0: it takes no time
	hangUp        time.Duration // the client is gone by then; 0: it is not
	losesAnswer   bool          // it is given, and the client does not have it
	lacks         bool          // there is nothing that curl could do
}

// lane reads the faults of a lane. For some of them curl can do what comes to the same, such as
// giving up earlier by what a request would take there.
func (w *writer) lane(name string) (l lane) {
	for _, f := range w.page.Lanes[name] {
		switch {
		case f.Latency != nil && f.Latency.Way != faults.ResponseWay:
			l.delay, l.jitter = l.delay+time.Duration(f.Latency.Delay), l.jitter+time.Duration(f.Latency.Jitter)
		case f.Bandwidth != nil && f.Bandwidth.Way != faults.ResponseWay:
			l.rate = f.Bandwidth.Rate
		case f.HangUp != nil:
			l.hangUp, l.losesAnswer = time.Duration(f.HangUp.After), true
		case f.Withhold != nil, f.Cut != nil, f.Lose == faults.LoseResponse:
			l.losesAnswer = true
		default:
			l.lacks = true
		}
	}
	return l
}

// headSize is about what the head of a request has, in bytes.
const headSize = 300

// patience is how long curl waits for an answer, as a word of the shell. Behind a slow lane, the target has the request later: so
// that it is alone with it as long, the client gives up earlier.
func (w *writer) patience(a scenarios.PlannedAttempt, r driver.Rehearsed) string {
	l, given := w.lane(a.Lane), max(a.Timeout.Of(w.normal), 0)
	if l.hangUp > 0 && (given == 0 || l.hangUp < given) {
		given = l.hangUp
	}
	if given == 0 || given >= usualDeadline {
		return w.seconds(cmp.Or(given, usualDeadline))
	}
	given -= l.delay
	if l.rate > 0 {
		given -= time.Duration(headSize+len(r.Body)) * time.Millisecond / time.Duration(l.rate)
	}
	least, most := max(given-l.jitter, time.Millisecond), max(given+l.jitter, time.Millisecond)
	if least == most {
		return w.seconds(least)
	}
	w.page.Between = true
	return fmt.Sprintf(`"$(between %d %d)"`, least.Milliseconds(), most.Milliseconds())
}
