package checker

import "github.com/doubletap-harness/doubletap/history"

// Hunt is what a hunt has come to: rounds of scenarios that race, sent until one broke, a bound was reached or the time was over.
type Hunt struct {
	Rounds int            `json:"rounds"` // that were exercised, of all arms together
	Took   history.Offset `json:"took"`
	Until  float64        `json:"until,omitempty"` // share of rounds that was to be ruled out with 95 % confidence, 0 to 1; 0: none was asked for
	Ended  HuntEnd        `json:"ended"`
	Arms   []Arm          `json:"arms"` // that had rounds, the one with the most first
}

// HuntEnd says why a hunt ended.
type HuntEnd string

// The ends of a hunt. The zero value is none: it goes on.
const (
	HuntFound       HuntEnd = "found"       // a round broke
	HuntBound       HuntEnd = "bound"       // the bound that was asked for is reached
	HuntTime        HuntEnd = "time"        // the time is over
	HuntRequests    HuntEnd = "requests"    // as much was sent as may be
	HuntInterrupted HuntEnd = "interrupted" // the run was stopped
	HuntStopped     HuntEnd = "stopped"     // the target or its database is gone, or nothing can be played
)

// Arm is one way to send rounds that a hunt chose from: a scenario, or one with something changed.
type Arm struct {
	Scenario string         `json:"scenario"`       // by its own name
	Of       string         `json:"of"`             // scenario that it is, or was made of
	With     string         `json:"with,omitempty"` // what was changed; empty: nothing
	Batches  int            `json:"batches"`        // how often it was chosen
	Rounds   int            `json:"rounds"`         // that were exercised
	Signs    float64        `json:"signs"`          // mean sign of trouble in a round, 0 to 1: requests overlapped, their answers differed, or one failed
	Took     history.Offset `json:"took"`           // all of its batches
}

// Bound is the share of rounds that may still break, with 95 % confidence, after so many without a failure, 0 to 1: by the rule of
// three. Without rounds it is 1.
func (h Hunt) Bound() float64 { return min(1, 3/float64(max(h.Rounds, 1))) }

// Reached reports that the bound that was asked for is reached. Where none was, it is.
func (h Hunt) Reached() bool { return h.Until <= 0 || h.Rounds > 0 && h.Bound() <= h.Until*(1+1e-9) }

// Verdict is the verdict on a hunt, given that of its results. Their last rounds may not show a known bug: that does not mend it. A hunt in
// which no round was exercised, or that did not reach its bound, shows nothing.
func (h Hunt) Verdict(results []Result, all Verdict) Verdict {
	if all != Pass && all != Mended {
		return all
	}
	for i := range results {
		if results[i].Verdict == Mended {
			results[i].Verdict, results[i].Reasons = Pass, nil
		}
	}
	if h.Rounds == 0 || !h.Reached() || h.Ended == HuntStopped {
		return Inconclusive
	}
	return Pass
}
