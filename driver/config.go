package driver

import (
	"context"
	"net"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// Config says what a [Sender] sends, where, and what it reports. Workload, Dialers and Record are needed to send;
// everything else has a usable zero value. A Config is not changed by its Sender.
type Config struct {
	Workload
	Dialers []Dialer        // to each of the target's instances; one where it has one
	Record  *history.Writer // of all that is sent and seen

	// Rows counts the rows of a marker. Nil: the database cannot be asked.
	Rows     func(ctx context.Context, operation, marker string) (int, error)
	Normal   time.Duration // duration of a plain create; spans that are shares are of this
	KeepBody int           // bytes of each answer's body to record; 0 is DefaultKeepBody
	Hold     time.Duration // how long a burst waits for its slowest member; 0 is DefaultHold
	Pace     *Pace         // nil: no rate limit, and Retry-After holds back only its own request
	// RealTime releases bursts from threads at real-time priority (SCHED_FIFO), where the system permits it: the
	// spread is smaller on a machine that the target shares. False leaves the scheduling of every thread alone.
	RealTime bool

	Hooks     Hooks
	Controls  Controls
	Repeat    Repeat
	Following *Following // nil: no attempt is followed
}

// Hooks tell a [Sender] what answers mean, which is not for it to judge. All may be nil. They are called from many
// goroutines, except for Done.
type Hooks struct {
	Done      func()                                           // an intent or its probe is over; never called twice at once
	Identity  func(operation string, a history.Attempt) string // of the row that an answer names; empty: none. It is no secret.
	Throttled func(history.Attempt) bool                       // the target rejected the request because of its rate limit
	// Unauthenticated tells that the target rejected the request because it does not know its sender.
	Unauthenticated func(history.Attempt) bool
	// Phase describes how the second of two requests was answered, for a sweep. Nil: its status.
	Phase func(operation string, first, second history.Attempt) string
}

// Controls are the means to disturb the target. A plan that needs one that is missing must not be sent.
type Controls struct {
	WriteGates []WriteGate     // tables whose writers can be held, each in its turn
	Links      map[string]Link // inside the target, by name
	Crasher    *Crasher        // of the target's process
	Flush      Flush           // of the target's store
}

// Repeat has what was decided at random times in the run that is repeated. The zero value decides anew.
type Repeat struct {
	Offsets map[string]time.Duration // of a sweep, by intent
	Moments map[string]faults.Moment // at which a link broke, by intent
}

// Defaults of Config.
const (
	DefaultKeepBody = 64 << 10         // 64 KiB of an answer's body
	DefaultHold     = 10 * time.Second // for the slowest member of a burst
)

// Dialer opens a connection to the target through a lane. The tap is nil where the lane cannot see requests.
type Dialer func(ctx context.Context, lane string) (net.Conn, Tap, error)

// Tap watches a connection upstream of its lane's faults, where the target is. Safe for concurrent use.
type Tap interface {
	// Facts returns what was seen so far.
	Facts() history.Passage
	// Over reports that nothing more will be seen of it.
	Over() bool
	// Hold keeps the last of a request's size bytes at the tap: it calls arrive when all others are there, with
	// what releases it, or leave if they do not come. It reports whether it can.
	Hold(size int64, arrive func(release func()), leave func()) bool
}
