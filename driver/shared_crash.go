package driver

import (
	"context"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// sharedCrash is one kill of the target's process that strikes requests of several intents, each after its own time: what is struck
// later in its life is released earlier. It saves starts where one takes seconds. Safe for concurrent use.
type sharedCrash struct {
	begun    time.Time
	released *meeting // their requests wait at their barriers, and how long before the kill the earliest is released
	due      *meeting // they wait for the kill, and when it is, since begun
	over     chan struct{}
	crash    history.Crash // once over
}

// newSharedCrash makes a crash for so many intents.
func newSharedCrash(intents int) *sharedCrash {
	return &sharedCrash{begun: time.Now(), released: newMeeting(intents), due: newMeeting(intents), over: make(chan struct{})}
}

// gather returns when a request is to be released that is to be struck so long after. All others have come by then, or will not.
func (c *sharedCrash) gather(ctx context.Context, after time.Duration) {
	c.released.come(after)
	if longest, met := c.released.wait(ctx); met {
		sleepUntil(ctx, time.Now().Add(longest-after))
	}
}

// leave says that an intent will not gather.
func (c *sharedCrash) leave() {
	c.due.come(0)
	c.released.come(0)
}

// strike calls kill once for all that have gathered, at the latest of their moments, and returns what it did. It is empty if the run
// was stopped before.
func (c *sharedCrash) strike(ctx context.Context, at time.Time, kill func() history.Crash) history.Crash {
	if c.due.come(at.Sub(c.begun)) {
		defer close(c.over)
		latest, _ := c.due.wait(ctx)
		if sleepUntil(ctx, c.begun.Add(latest)); ctx.Err() == nil {
			c.crash = kill()
		}
		return c.crash
	}
	if _, met := c.due.wait(ctx); !met {
		return history.Crash{}
	}
	<-c.over
	return c.crash
}

// meeting is where several wait for each other. Each brings a duration, and the longest counts. Safe for concurrent use.
type meeting struct {
	met chan struct{} // closed when all have come

	mu      sync.Mutex
	missing int
	longest time.Duration
}

func newMeeting(of int) *meeting { return &meeting{met: make(chan struct{}), missing: of} }

// come counts one in, and reports that it is the last.
func (m *meeting) come(with time.Duration) (last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.longest = max(m.longest, with)
	if m.missing--; m.missing == 0 {
		close(m.met)
	}
	return m.missing == 0
}

// wait waits for all to come. It returns false if the context ended before.
func (m *meeting) wait(ctx context.Context) (longest time.Duration, met bool) {
	select {
	case <-m.met:
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.longest, m.missing == 0
}

// seat is an intent's place in a crash that it shares.
type seat struct {
	*sharedCrash
	taken bool
}

// crashOf returns the crash that is to strike a request of an intent: the one that it shares, or its own.
func (r *intentRunner) crashOf(i scenarios.PlannedIntent) *sharedCrash {
	shared, shares := r.seats[i.ID]
	if !shares || shared.taken {
		return newSharedCrash(1)
	}
	shared.taken = true
	return shared.sharedCrash
}

// leaveSeat says that an intent is over, in case that it was not struck.
func (r *intentRunner) leaveSeat(i scenarios.PlannedIntent) {
	if shared, shares := r.seats[i.ID]; shares && !shared.taken {
		shared.leave()
	}
}

// byCrash gives intents their seats, so many to a crash, and returns those of each crash, which are played before the next: a crash is not to strike
// what the last one left to be sent. Those that share one are far from each other in the plan: their crashes strike at moments that are far
// from each other, too. Without shared crashes all are played together.
func byCrash(intents []scenarios.PlannedIntent, each int) ([][]scenarios.PlannedIntent, map[string]*seat) {
	if each < 2 {
		return [][]scenarios.PlannedIntent{intents}, nil
	}
	var groups [][]scenarios.PlannedIntent
	seats, crashes := map[string]*seat{}, (len(intents)+each-1)/each
	for n := range crashes {
		var group []scenarios.PlannedIntent
		for i := n; i < len(intents); i += crashes {
			group = append(group, intents[i])
		}
		shared := newSharedCrash(len(group))
		for _, i := range group {
			seats[i.ID] = &seat{sharedCrash: shared}
		}
		groups = append(groups, group)
	}
	return groups, seats
}
