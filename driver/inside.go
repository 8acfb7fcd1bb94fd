package driver

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// insideTime is how long a create is inside the target now, from when the tap has seen the
// request to when it sees the answer. The pilot's creates tell at first, and then those of
// the scenario: on a busy machine they may take several times as long, or as short. It is
// never empty. Safe for concurrent use.
type insideTime struct {
	mu     sync.Mutex
	recent []time.Duration
}

// mostRecent is how many creates tell.
const mostRecent = 5

// learn notes the first request of an intent, if the target answered it well, whether or
// not the client got that. A replay may be faster by far, and a refusal, too.
func (t *insideTime) learn(o *outgoing) {
	if o.tap == nil || o.record.Retry > 0 || !strings.HasSuffix(o.record.ID, ".1") {
		return
	}
	p := o.tap.Facts()
	if p.Arrived == 0 || p.Answered <= p.Arrived || p.Status < 200 || p.Status > 299 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent = append(t.recent, (p.Answered - p.Arrived).Duration())
	t.recent = t.recent[max(0, len(t.recent)-mostRecent):]
}

// now is the median of the most recent: one create that a busy machine held up does not
// count.
func (t *insideTime) now() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(slices.Values(t.recent))[(len(t.recent)-1)/2]
}

// least is the shortest of the most recent: what takes a share of it meets a running request, whatever else keeps the
// machine busy.
func (t *insideTime) least() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Min(t.recent)
}

// insideOf is how long a create of an intent is inside the target at least. One with work to do takes that as well.
func (r *requests) insideOf(i scenarios.PlannedIntent) time.Duration {
	if r.config.work(i) > 0 {
		return r.config.normal(i)
	}
	return r.inside.least()
}

// soonest is the shortest timeout that a client keeps by its own clock: on a busy machine its end needs milliseconds
// to go through the lane to the target. The upstream tap ends a shorter one, without yielding the processor.
const soonest = 5 * time.Millisecond

// byTap reports that requests of a move are released, or given up, after a share of the time that a create is inside
// the target. A fast one is done before a clock of the client's could say so: their last bytes wait at the upstream
// tap, and all times count from their release there.
func byTap(m scenarios.Move) bool {
	return slices.ContainsFunc(m.Batch, func(a scenarios.PlannedAttempt) bool {
		return a.At.Share > 0 || a.Plus.Share > 0 || a.Timeout.Share > 0
	})
}
