package driver

import (
	"context"
	"net"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Config says what a [Sender] sends, where, and what it reports. Workload, Dialers and Record are needed to send;
// everything else has a usable zero value. A Config is not changed by its Sender.
type Config struct {
	Workload
	// A connection of an intent takes one dialer after the other, see transmitter.turn.
	Dialers []Dialer        // to each of the target's instances; one where it has one
	Places  []Place         // of each of Dialers; none: they are all at the workload's base URL, and equally far
	Record  *history.Writer // of all that is sent and seen

	// Rows counts the rows of a marker. Nil: the database cannot be asked.
	Rows     func(ctx context.Context, operation, marker string) (int, error)
	Normal   time.Duration // duration of a plain create; pauses that are shares are of this
	Inside   time.Duration // of that: inside the target; what is released at its upstream tap has shares of this. 0: Normal
	Behind   time.Duration // how long accepted work goes on after its answer; 0: what is answered is done
	KeepBody int           // bytes of each answer's body to record; 0 is DefaultKeepBody
	Hold     time.Duration // how long a burst waits for its slowest member; 0 is DefaultHold
	Recovery time.Duration // how long a client that retries goes on after a break of a link while the target fails; 0: as planned
	GiveUp   int           // intents with a request that is never answered on the clean lane, after which no more is sent; 0: never
	PerCrash int           // intents whose first crash is one; 0: each has its own
	Pace     *Pace         // nil: no rate limit, and Retry-After holds back only its own request
	// RealTime releases bursts from threads at real-time priority (SCHED_FIFO), where the system permits it: the
	// spread is smaller on a machine that the target shares. False leaves the scheduling of every thread alone.
	RealTime bool
	// Lasting keeps connections on the clean lane for the next request, in HTTP/1.1, where the target leaves them open: more bursts
	// in a second. False dials a connection for each request.
	Lasting bool

	Hooks     Hooks
	Controls  Controls
	Repeat    Repeat
	Following *Following // nil: no attempt is followed
}

// normal is how long a plain create takes that has an intent's work to do.
func (c *Config) normal(i scenarios.PlannedIntent) time.Duration { return c.Normal + c.work(i) }

// atOnce is how many intents are played at a time.
func (c *Config) atOnce() int { return max(c.Plan.Concurrency, c.PerCrash, 1) }

// Hooks tell a [Sender] what answers mean, which is not for it to judge. All may be nil. They are called from many
// goroutines, except for Done.
type Hooks struct {
	Done      func()                                           // an intent or its probe is over; never called twice at once
	Identity  func(operation string, a history.Attempt) string // of the row that an answer names; empty: none. It is no secret.
	LoggedIn  func(given map[string]map[string]string)         // what a login gave each principal, by name
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
	Trap       *Trap           // for the effects of an intent
	Revived    func() bool     // waits until a target that takes no connections takes them again; false: it does not. nil: it cannot be started again
	Flush      Flush           // of the target's store
	// Prolong holds what an intent's first request asks the target's database, for so long. The channel is closed when it
	// does; callOff ends the wait for that. Nil: requests that are to take long do so by themselves.
	Prolong func(number int, work time.Duration) (held <-chan struct{}, callOff func())
}

// Repeat has what was decided at random times in the run that is repeated. The zero value decides anew.
type Repeat struct {
	Offsets map[string]time.Duration // of a sweep, by intent
	Moments map[string]faults.Moment // at which a link broke, by intent
}

// Place is an instance of a target with several addresses.
type Place struct {
	Host string        // that requests name
	Aim  time.Duration // members of a burst that go there are released so much later than those to the farthest place
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
	// what releases it, or leave if they do not come. It calls answered when the target begins to answer, and may keep the answer until
	// the channel is closed: all members of the burst are answered then. Nil: that is not known. It reports whether it can.
	Hold(size int64, arrive func(release func()), leave func(), answered func() <-chan struct{}) bool
	// LeaveAfter closes the connection to the target so long after what is held was released, as a client that leaves
	// does, but at that moment. Call it before Hold.
	LeaveAfter(d time.Duration)
}
