package scenarios

import (
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// Races reports whether requests of one intent are in flight together, or one is when the target crashes. Whether a
// round of such a scenario hits a race window is a matter of chance, unless the work is long.
func (s Scenario) Races() bool {
	return len(s.Work) == 0 && slices.ContainsFunc(s.Steps, func(step Step) bool {
		return step.Burst != nil || step.Sweep != nil || step.Crash != nil || len(step.Tabs) > 0
	})
}

// Shares reports that others may be played meanwhile: each request of an intent waits for the one before or comes at a time of
// work that takes long, nothing is timed by what a create takes, and nothing is held, broken or loaded that all use. Where work can
// be made to take long only by holding what all use, a scenario with work does not share.
func (s Scenario) Shares() bool {
	return len(s.Links) == 0 && s.Sinks == nil && s.Background == nil && !slices.ContainsFunc(s.Steps, func(step Step) bool {
		return step.Burst != nil || step.Sweep != nil || step.Crash != nil || len(step.Tabs) > 0 && len(s.Work) == 0 || step.Flush != "" || len(step.cuts()) > 0 || step.timed()
	})
}

// timed reports that a request has a deadline, or a retry a backoff, that follows from what a create takes.
func (s Step) timed() bool {
	return slices.ContainsFunc(s.sendings(0), func(one sending) bool {
		send := one.send
		return send.Timeout.Share != 0 || send.Retry != nil && (send.Retry.Timeout.Share != 0 || send.Retry.Backoff.Share != 0)
	})
}

// Pauses is how long an intent waits at least between its requests at a target with such a contract, but for what follows from how fast it is.
func (s Scenario) Pauses(promise contract.Contract) time.Duration {
	var sum time.Duration
	for _, step := range s.Steps {
		switch w := step.Wait; {
		case w == nil || w.For == WaitCommitted:
		case w.For == WaitExpired:
			sum += promise.Expiry.Past()
		case w.For == WaitRemembered:
			var longest time.Duration
			for _, p := range w.Pauses {
				longest = max(longest, p.Fixed)
			}
			sum += max(0, promise.StillKnown(longest, sum))
		default:
			sum += w.Pause.Fixed
		}
	}
	return sum
}
