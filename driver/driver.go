// Package driver turns a plan into attempts: it sends what clients would send, through the lanes,
// and records what was on the wire. It is the only room that sends requests to the target. It
// records facts and judges nothing.
package driver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// Road opens a connection to the target through a lane.
type Road func(ctx context.Context, lane string) (net.Conn, Passage, error)

// Passage is a connection as it is seen at the target's doorstep, behind the lane's faults.
type Passage interface {
	// Facts tells what was seen so far. It may be called at any time.
	Facts() history.Passage
	// Over reports that nothing more will be seen of it.
	Over() bool
	// Hold keeps the last of a request's bytes at the doorstep: arrive is called when all others are
	// there, with what lets it go, or leave if they do not come. It reports whether it can.
	Hold(size int64, arrive func(release func()), leave func()) bool
}

// Operation is one of the target's operations, by its name.
type Operation struct {
	Name string
	targets.Operation
}

// Principal is one of the target's principals, by its name. Values may be secret.
type Principal struct {
	Name   string
	Values targets.Principal
}

// Driver sends one plan. Fill its fields, then call SetUp, Drive, Probe and TidyUp once each. Follow comes after
// Drive and after Probe.
type Driver struct {
	Target     targets.Target
	Operations []Operation // the first is the run's; neighbours across operations take one each
	Principals []Principal // as Operations; none: nobody in particular
	Plan       scenarios.Plan
	Names      Names
	Road       Road
	Roads      []Road                                                           // to each of the target's instances, where there are several; then there is no Road
	Rows       func(ctx context.Context, operation, marker string) (int, error) // nil: the database cannot be asked
	Record     *history.Writer
	Base       time.Time       // start of the run
	Normal     time.Duration   // what a plain create takes; spans that are shares are of this
	KeepBody   int             // bytes of each answer's body to record; 0 is DefaultKeepBody
	Hold       time.Duration   // how long a burst waits for its slowest member; 0 is DefaultHold
	WriteGates []WriteGate     // tables whose writers may be held back, each in its turn; none: no burst asks for it
	Links      map[string]Link // inside the target, by name; those that the plan breaks
	Crasher    *Crasher        // nil: no plan kills the target
	Flush      Flush           // nil: no plan flushes the target's store
	Following  *Following      // nil: nothing is ever accepted, to be done later
	Pace       *Pace           // nil: nothing is held back
	Done       func()          // called when an intent's story is over, never twice at once; may be nil
	// RealTime releases bursts from threads at real-time priority (SCHED_FIFO), where the system permits it: the
	// spread is smaller on a machine that the target shares. False leaves the scheduling of every thread alone.
	RealTime bool

	// Logins has what the target's login has given each principal, by name; nil: SetUp logs in.
	Logins map[string]map[string]string
	// Named is how an answer names what was made; empty: it does not. That is no secret, and what is removed is found by it.
	Named func(operation string, a history.Attempt) string
	// Throttled tells an answer that refuses a request at the door; nil: none does.
	Throttled func(history.Attempt) bool
	// TurnedAway tells an answer that its sender is not known at the door; nil: none does.
	TurnedAway func(history.Attempt) bool
	// Offsets has, by intent, what a sweep had decided in the run that is repeated, and Moments when a link
	// broke in it. Phase tells a sweep in
	// words how the second of two requests was answered; nil: by status.
	Offsets map[string]time.Duration
	Moments map[string]scenarios.Moment
	Phase   func(operation string, first, second history.Attempt) string

	masks     atomic.Pointer[masker]
	secret    []string // what steps have taken
	made      map[household]map[string]string
	issued    map[issue]string
	named     map[string]string         // by intent, how the last answer named what it has made
	requests  map[string]prepared       // by intent and body
	strangers []asking                  // of the final probe: nobody knew them at the door
	turns     map[string]int            // by intent: which of the roads is the next
	unsent    map[string]history.Intent // of the background traffic, which goes on record when it is sent
	mu        sync.Mutex
	sweeps    map[int]*sweep           // by step
	silences  map[scenarios.Moment]int // how often a moment that has a word did not come
	ledger    ledger
	releases  releaser
	refused   int // attempts in a row that found no target
	halt      context.CancelCauseFunc
}

// DefaultKeepBody is how much of an answer's body is recorded: 64 KiB.
const DefaultKeepBody = 64 << 10

// DefaultHold is how long a burst waits for its slowest member.
const DefaultHold = 10 * time.Second

// ErrTargetGone is returned by Drive and Probe when the target stopped taking connections.
var ErrTargetGone = errors.New("the target takes no connections any more")

// goneAfter is the number of attempts in a row, of any intents, that find no target before the
// driver stops sending.
const goneAfter = 8

// Drive sends the plan: every intent's story, Plan.Concurrency of them at a time. It returns early,
// with what was recorded, when the context ends, the history cannot be written or the target is gone.
func (d *Driver) Drive(ctx context.Context) error {
	if err := d.prepareAll(); err != nil {
		return err
	}
	return d.haltable(ctx, func(ctx context.Context) {
		stop := d.background(ctx)
		d.each(ctx, d.intents(false), max(d.Plan.Concurrency, 1), d.tell)
		stop()
	})
}

// haltable sends until send returns, or halt makes it.
func (d *Driver) haltable(ctx context.Context, send func(context.Context)) error {
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	d.halt = halt
	send(ctx)
	return d.cutShort(ctx)
}

// cutShort says why sending came to its end before its time; nil: it did not.
func (d *Driver) cutShort(ctx context.Context) error {
	if err := d.Record.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// each runs work for every intent, so many at a time.
func (d *Driver) each(ctx context.Context, intents []scenarios.PlannedIntent, atOnce int, work func(context.Context, scenarios.PlannedIntent)) {
	queue := make(chan scenarios.PlannedIntent)
	var workers sync.WaitGroup
	var telling sync.Mutex
	for range atOnce {
		workers.Go(func() {
			for i := range queue {
				work(ctx, i)
				if d.Done != nil && ctx.Err() == nil {
					telling.Lock()
					d.Done()
					telling.Unlock()
				}
			}
		})
	}
	feed(ctx, queue, intents)
	workers.Wait()
}

// feed hands work out until the context ends.
func feed[Work any](ctx context.Context, queue chan<- Work, all []Work) {
	defer close(queue)
	for _, one := range all {
		select {
		case queue <- one:
		case <-ctx.Done():
			return
		}
	}
}

// operation returns the operation of an intent.
func (d *Driver) operation(i scenarios.PlannedIntent) Operation {
	if i.Kin != nil && i.Kin.Across == scenarios.AcrossOperations {
		return d.Operations[i.Kin.Place%len(d.Operations)]
	}
	return d.Operations[0]
}

// principal returns who sends an intent.
func (d *Driver) principal(i scenarios.PlannedIntent) Principal {
	switch {
	case len(d.Principals) == 0:
		return Principal{}
	case i.Kin != nil && i.Kin.Across == scenarios.AcrossPrincipals:
		return d.Principals[i.Kin.Place%len(d.Principals)]
	default:
		return d.Principals[0]
	}
}

// prepared is a rendered request, with secrets.
type prepared struct {
	operation Operation
	marker    string
	rendered  targets.Rendered
}

// prepareAll renders the requests of all intents and records the intents.
func (d *Driver) prepareAll() error {
	d.releases.realTime = d.RealTime
	d.requests, d.unsent = map[string]prepared{}, map[string]history.Intent{}
	d.remask()
	d.turns, d.named = map[string]int{}, map[string]string{}
	for _, i := range d.Plan.Intents {
		d.turns[i.ID] = i.Number - 1
		if err := d.prepare(i); err != nil {
			return err
		}
	}
	return nil
}

// prepare renders an intent's requests and records the intent.
func (d *Driver) prepare(i scenarios.PlannedIntent) error {
	operation := d.operation(i)
	if operation.Key.In == contract.KeyInPath && d.keyless(i) {
		return fmt.Errorf("prepare the request of intent %s: its key stands in the path, where it cannot be left out or blank", i.ID)
	}
	intent := history.Intent{ID: i.ID, Number: i.Number, Principal: d.principal(i).Name, Kin: kin(i), Bodies: map[string]history.Body{}}
	if operation.Name != d.Operations[0].Name {
		intent.Operation = operation.Name
	}
	for _, body := range bodiesOf(i) {
		values := d.values(i, body)
		marker := values.Intent.Marker
		rendered, err := operation.Render(values, body == history.Altered)
		if err != nil {
			return fmt.Errorf("render the request of intent %s: %w", i.ID, err)
		}
		if body == history.Altered && rendered.Drawn.Chance && !d.Target.Alters(operation.Operation, values) {
			return fmt.Errorf("render the request of intent %s: the altered body came out the same as the other one: alter has to draw from other values", i.ID)
		}
		p := prepared{operation: operation, marker: marker, rendered: rendered}
		if err := d.sendable(p, body, d.keysOf(i)); err != nil {
			return fmt.Errorf("prepare the request of intent %s: %s", i.ID, d.mask().text(err.Error()))
		}
		d.requests[i.ID+body] = p
		shown := rendered
		_ = respell(&shown, body) // sendable has seen that it can be done
		intent.Bodies[body] = d.mask().body(history.Body{
			Marker: marker, Method: shown.Method, Path: shown.Path, Header: shown.Header, Content: string(shown.Body), Says: string(shown.Says),
		})
	}
	if i.Behind {
		intent.Behind = true
		d.unsent[i.ID] = intent
		return nil
	}
	return d.Record.Intent(intent)
}

// author is the number of the intent whose body an intent has.
func author(i scenarios.PlannedIntent) int { return cmp.Or(i.Twin, i.Number) }

func (d *Driver) marker(i scenarios.PlannedIntent, body string) string {
	return d.Names.Marker(author(i), history.Meaning(body))
}

func kin(i scenarios.PlannedIntent) string {
	if i.Kin == nil {
		return ""
	}
	return scenarios.IntentID(i.Kin.First)
}

// bodiesOf returns the bodies that an intent is sent with. The original is always among them.
func bodiesOf(i scenarios.PlannedIntent) []string {
	bodies := []string{history.Original}
	for _, m := range i.Moves {
		for _, a := range m.Volley {
			if !slices.Contains(bodies, a.Body) {
				bodies = append(bodies, a.Body)
			}
		}
	}
	return bodies
}

// Markers returns the markers of every body of the plan by the name of the operation, so that a caller
// can see before the first request that the database holds none of them.
func (d *Driver) Markers() map[string][]string {
	markers := map[string][]string{}
	seen := map[string]bool{}
	for _, i := range d.Plan.Intents {
		name := d.operation(i).Name
		for _, body := range bodiesOf(i) {
			if m := d.marker(i, body); !seen[name+m] {
				seen[name+m] = true
				markers[name] = append(markers[name], m)
			}
		}
	}
	return markers
}

// tlsConfig returns how to speak TLS to a target; nil: not at all. Lanes that the target's certificate is
// checked for speak TLS from end to end: the lane sees only encrypted bytes.
func tlsConfig(t targets.Target) *tls.Config {
	where, err := url.Parse(t.BaseURL)
	if err != nil || where.Scheme != "https" {
		return nil
	}
	config := t.TLS.Config()
	config.ServerName, config.NextProtos = where.Hostname(), []string{"http/1.1"}
	if t.TLS != nil && t.TLS.ServerName != "" {
		config.ServerName = t.TLS.ServerName
	}
	if t.Protocol == targets.HTTP2 {
		config.NextProtos = []string{alpn}
	}
	return config
}

func (d *Driver) now() history.Offset { return max(1, history.Offset(time.Since(d.Base))) }
