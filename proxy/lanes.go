// Package proxy turns the lanes of a scenario into network paths to the target, each
// through one toxiproxy proxy with a fixed set of toxics, and turns a dial into a
// connection on such a path.
//
//	client ─ lane's entry ─ toxiproxy (toxics) ─ upstream tap ─ target
//
// The upstream tap is a small relay that records what passed behind the faults. A lost
// answer and a lost request look the same to the client and differ in the database; the
// tap tells them apart, whatever language the target is written in. It is also where the
// members of a burst wait for each other: in front of the faults, their latency would
// spread them again.
//
// The package also stands on links inside the target, such as the one to its database (see
// [LinkProxy]), and in front of several instances (see [Balancer]).
//
// It knows connections and bytes. It never sends a request of its own, never tries one
// again, and leaves chance to the plan: toxiproxy draws its toxicity from a source that
// cannot be seeded, so a toxic always strikes here, and the plan chooses the lane.
package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// patience is how long Close waits for toxics that sleep where they cannot be woken.
const patience = 10 * time.Second

// Options says where lanes lead and what they are made of.
type Options struct {
	Upstream  string    // host:port of the target, as seen from here and from toxiproxy
	Instances []string  // host:port of each of the target's instances, where DialInstance is used; as seen from here
	Socket    string    // path of the target's Unix domain socket, instead of Upstream; empty: it has none
	Toxiproxy string    // URL of a running toxiproxy server; empty: in process
	Base      time.Time // start of the run, on the monotonic clock; zero: when the lanes are opened
	// TLS returns how the target is spoken to in TLS, at one of the instances or at Upstream (0); nil: in plain text. The upstream tap
	// speaks it, so that the faults strike a request and its answer and not the handshake before them. A lane without an upstream tap
	// leaves it to the caller.
	TLS func(instance int) *tls.Config
	// Streams says that the target speaks HTTP/2: a tap counts the frames of streams, and tells something of a request that has a
	// connection of its own.
	Streams bool
}

// Lanes are the open lanes of one run. All methods are safe for concurrent use.
type Lanes struct {
	byName    map[string]*lane
	host      host
	instances int // of the target, that can be chosen
}

// Open opens all lanes, and [faults.Clean] besides, which has no faults. The toxics of a lane are
// there before its first connection and stay until it is closed: a toxic that is added to a living
// connection does something else. If one lane cannot be opened, none is left open.
func Open(ctx context.Context, lanes map[string][]faults.Fault, o Options) (*Lanes, error) {
	if len(lanes[faults.Clean]) > 0 {
		return nil, fmt.Errorf("open lanes: lane %q is the one without faults", faults.Clean)
	}
	if o.Base.IsZero() {
		o.Base = time.Now()
	}
	h, err := hostAt(o.Toxiproxy)
	if err != nil {
		return nil, fmt.Errorf("open lanes: %w", err)
	}
	l := &Lanes{byName: map[string]*lane{}, host: h, instances: len(o.Instances)}
	wanted := maps.Clone(lanes)
	if wanted == nil {
		wanted = map[string][]faults.Fault{}
	}
	wanted[faults.Clean] = nil
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		opened, err := openLane(ctx, h, laneSpec{name: name, faults: wanted[name], options: o})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open lane %q: %w", name, err), l.Close())
		}
		l.byName[name] = opened
	}
	return l, nil
}

// Dial connects to the target through the named lane. The tap is never nil without an error; it records while the
// connection is open. Closing the connection closes it for good, but its socket is kept, and emptied, until the lane
// has closed it as well: see conn. HTTP is left to the caller, and so is TLS, unless the connection has a method Sealed() bool that
// reports true: then what is written to it in plain text reaches the target in TLS.
func (l *Lanes) Dial(ctx context.Context, lane string) (net.Conn, *Tap, error) {
	return l.DialInstance(ctx, lane, 0)
}

// DialInstance is Dial for one of Options.Instances, from 1; 0 is Options.Upstream. The upstream tap
// dials the instance: a lane without one leads to Options.Upstream. The connection has a method Instance() int, which
// says where it went; 0: to no instance in particular, or it is not known.
func (l *Lanes) DialInstance(ctx context.Context, lane string, instance int) (net.Conn, *Tap, error) {
	opened, known := l.byName[lane]
	if !known {
		names := strings.Join(slices.Sorted(maps.Keys(l.byName)), ", ")
		return nil, nil, fmt.Errorf("dial: there is no lane %q, only %s", lane, names)
	}
	if instance < 0 || instance > l.instances {
		return nil, nil, fmt.Errorf("dial lane %q: there is no instance %d of the target, only %d", lane, instance, l.instances)
	}
	c, p, err := opened.dial(ctx, instance)
	if err != nil {
		return nil, nil, fmt.Errorf("dial lane %q: %w", lane, err)
	}
	return c, p, nil
}

// Facts describes the lanes as they were opened, sorted by name.
func (l *Lanes) Facts() []history.Lane {
	var facts []history.Lane
	for _, name := range slices.Sorted(maps.Keys(l.byName)) {
		facts = append(facts, l.byName[name].facts)
	}
	return facts
}

// Doubtful says that it is not known any more what reached the target by which connection, and why; empty: it is known.
func (l *Lanes) Doubtful() string {
	for _, name := range slices.Sorted(maps.Keys(l.byName)) {
		if l.byName[name].doubtful.Load() {
			return fmt.Sprintf("a connection came out of lane %q that was not the one expected: another program connected to it, or toxiproxy took longer than %v to pass one on", name, handshake)
		}
	}
	return ""
}

// InFlight counts the requests of which something arrived at the target, that it has not
// begun to answer, and whose connection to it is open. Zero means that faults can be
// removed and rows be read. Lanes without an upstream tap count none.
func (l *Lanes) InFlight() int {
	n := 0
	for _, opened := range l.byName {
		n += opened.inFlight()
	}
	return n
}

// LongestInside is how long that of the requests that [Lanes.InFlight] counts is inside the target that came first; 0: there is none.
func (l *Lanes) LongestInside() time.Duration {
	longest := time.Duration(0)
	for _, opened := range l.byName {
		longest = max(longest, opened.longestInside())
	}
	return longest
}

// RemoveFaults closes every lane except [faults.Clean] and every connection on them: the target learns that withheld
// clients are gone, and nothing that a lane delayed arrives any more.
// It may be called again if it failed.
func (l *Lanes) RemoveFaults(ctx context.Context) error {
	var errs []error
	for name, opened := range l.byName {
		if name == faults.Clean {
			continue
		}
		if err := opened.shut(ctx); err != nil {
			errs = append(errs, fmt.Errorf("remove faults of lane %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// Close closes all lanes and all connections on them; nothing of ours is left, neither here nor on
// a toxiproxy server. Closing again does nothing, or tries again what failed.
func (l *Lanes) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer l.host.leave()
	var errs []error
	for name, opened := range l.byName {
		if err := opened.shut(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close lane %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
