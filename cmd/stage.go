package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/snapshots"
	"github.com/doubletap-harness/doubletap/targets"
)

// stage is where scenarios are played: one run's subject and directory.
type stage struct {
	subject      *subject
	run          string
	seed         uint64
	dir          runDir
	toxiproxy    string
	offsets      map[string]time.Duration    // of a sweep, by intent, to be tried again
	struckAt     map[string]scenarios.Moment // moments at which a link breaks, likewise
	moments      map[string]int              // of a plain create, by link; from the pilot
	normal       time.Duration               // of a plain create, from the pilot
	uncalibrated bool                        // passes are not asked what they are worth
	progress     func(done, of int)          // safe for concurrent use
	pace         *driver.Pace                // of the whole run
	login        login                       // that scenarios share
	silence      time.Duration               // after which a target that answers nothing is taken for gone
	lost         history.IncidentKind        // what went away in the last scenario: target or database; empty: nothing
	across       []scenarios.Across          // what the pilot has to try besides the run's principal and operation
}

// play runs one scenario from its plan to its history. An error is the harness's own; whatever the
// target does ends in the history.
func (s *stage) play(ctx context.Context, f scenarios.File, plan scenarios.Plan) error {
	file, err := s.dir.begin(f, plan)
	if err != nil {
		return err
	}
	defer file.Close()
	act := &act{stage: s, scenario: f.Scenario, record: history.NewWriter(file), unasked: reserved(f.Scenario.Name)}
	if act.calibrated, err = s.calibrate(ctx, f.Scenario); err != nil {
		return err
	}
	act.base = time.Now()
	if err := act.perform(ctx, plan); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return surroundings(fmt.Errorf("write history: %w", err))
	}
	return nil
}

// alive reports whether the target answers anything at all. One that has lost a process is not what it was.
func (s *stage) alive(ctx context.Context) bool {
	return s.subject.ended() == nil && driver.Alive(ctx, s.subject.target) == nil
}

// act is one performance of one scenario.
type act struct {
	*stage
	scenario   scenarios.Scenario
	record     *history.Writer
	base       time.Time
	lanes      *proxy.Lanes
	links      []history.Link // that the scenario has to do with, as they are
	sender     *driver.Sender
	prepared   *driver.Prepared // nil before setUp
	sent       *driver.Sent     // nil before drive
	rows       rowReader        // nil: the rows are unknown
	questions  []snapshots.Question
	calibrated []history.Calibration
	ends       atomic.Int64 // stories and probes that are over
	unknown    atomic.Bool  // somebody was not known at the door: the next scenario logs in anew
	unasked    bool         // the pilot asks no final question
	halted     bool         // nothing more is sent
	probed     bool         // the final question was asked
	cut        bool         // and the history is not what was planned
}

// perform is the road from plan to history: open lanes, log in and prepare, see that the markers are absent,
// drive, remove the faults, wait until quiet, ask what became of what was accepted, snapshot, probe, wait
// until quiet, ask again, snapshot, tidy up.
func (a *act) perform(ctx context.Context, plan scenarios.Plan) error {
	if err := a.open(ctx, plan); err != nil {
		return err
	}
	defer a.lanes.Close()
	defer a.calmLinks(context.WithoutCancel(ctx))
	if err := a.slowLinks(ctx); err != nil {
		return err
	}
	if err := a.record.Run(a.head(plan)); err != nil {
		return surroundings(err)
	}
	if err := a.setUp(ctx); err != nil {
		return err
	}
	if err := a.lookAt(); err != nil { // as those who are logged in now
		return err
	}
	received := a.count(ctx)
	a.firstSnapshot(ctx)

	a.drive(ctx)
	a.settle(ctx)
	a.removeFaults(ctx)
	a.checkAlive(ctx)
	a.follow(ctx)
	a.quietSnapshot(ctx, history.T1Name)

	a.probe(ctx)
	a.settle(ctx)
	a.follow(ctx)
	a.quietSnapshot(ctx, history.T2Name)
	return a.close(ctx, received)
}

func (a *act) open(ctx context.Context, plan scenarios.Plan) error {
	upstream, err := a.subject.upstream()
	if err != nil {
		return err
	}
	a.lanes, err = proxy.Open(ctx, a.scenario.Lanes, proxy.Options{
		Upstream: upstream, Instances: a.subject.started.places, Socket: a.subject.target.Socket, Toxiproxy: a.toxiproxy, Base: a.base,
	})
	if err != nil {
		return surroundings(err)
	}
	a.sender = driver.New(a.config(plan))
	return nil
}

// config says what is sent, where, and what the driver may do to the target.
func (a *act) config(plan scenarios.Plan) driver.Config {
	terms := a.subject.terms()
	config := driver.Config{
		Workload: driver.Workload{
			Target: a.subject.target, Operations: a.subject.operations, Principals: a.subject.principals,
			Plan: plan, Names: driver.Names{Seed: plan.Seed, Run: a.run, Scenario: plan.Scenario}, Base: a.base,
			Logins: a.login.lasting(),
		},
		Dialers: a.roads(), Record: a.record, Rows: a.countRows(), Normal: a.normal, Pace: a.pace, RealTime: true,
		Hooks: driver.Hooks{
			Done:     func() { a.progress(min(int(a.ends.Add(1)), len(plan.Intents)), len(plan.Intents)) },
			Identity: terms.Named, Throttled: a.throttled, Unauthenticated: terms.TurnedAway, Phase: terms.Phase,
		},
		Controls: driver.Controls{WriteGates: a.subject.writeGates(), Links: a.driverLinks()},
		Repeat:   driver.Repeat{Offsets: a.offsets, Moments: a.struckAt},
	}
	if fleet := a.subject.started.fleet; len(fleet) > 0 {
		config.Controls.Crasher = &driver.Crasher{Kill: fleet.Kill, Start: fleet.Restart}
	}
	if store := a.subject.store; store != nil {
		config.Controls.Flush = func(ctx context.Context) (int, error) { return store.Flush(ctx, a.subject.target.Store.Flush) }
	}
	if len(terms.Contract.Ack.Accepted.Statuses) > 0 {
		config.Following = &driver.Following{
			Monitor: terms.Monitor, Settled: terms.Followed, Within: time.Duration(terms.Contract.Ack.Accepted.Within),
		}
	}
	return config
}

// throttled tells an answer that refuses a request at the door. It notes those that know nobody any more.
func (a *act) throttled(at history.Attempt) bool {
	if a.subject.terms().TurnedAway(at) {
		a.unknown.Store(true)
	}
	return a.subject.terms().Classify(at) == checker.Throttled
}

// road leads to one of the target's instances; 0: to the target.
func (a *act) road(instance int) driver.Dialer {
	road := roadOf(a.lanes, instance)
	return func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		conn, passage, err := road(ctx, lane)
		if a.subject.opaque() {
			passage = nil
		}
		return conn, passage, err
	}
}

// roadOf leads through lanes to an instance, or to whatever they lead to (0). Where there is no connection,
// there is no passage.
func roadOf(lanes *proxy.Lanes, instance int) driver.Dialer {
	return func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		conn, passage, err := lanes.DialInstance(ctx, lane, instance)
		if err != nil {
			return nil, nil, err
		}
		return conn, passage, nil
	}
}

// laneFacts are the lanes as they were opened. What a doorstep sees of TLS is a handshake, and of HTTP/2 a
// connection of many, which says nothing of one request: then there is none.
func (a *act) laneFacts() []history.Lane {
	lanes := a.lanes.Facts()
	for i := range lanes {
		lanes[i].Doorstep = lanes[i].Doorstep && !a.subject.opaque()
	}
	return lanes
}

func (a *act) head(plan scenarios.Plan) history.Run {
	run := history.Run{
		Format: history.Format, ID: a.run, Tool: version(), Scenario: a.scenario.Name, Summary: a.scenario.Summary,
		Target: a.subject.target.Name, Operation: a.subject.operation().Name, Seed: plan.Seed, Started: a.base,
		Instances: len(a.subject.started.places), Streams: a.subject.target.Protocol == targets.HTTP2,
		Lanes: a.laneFacts(), Links: a.links, Normal: history.Offset(a.normal), Calibrated: a.calibrated,
	}
	for _, p := range a.scenario.Exercised {
		run.Exercised = append(run.Exercised, history.Proof{Name: p.Name, AtLeast: p.AtLeast})
	}
	return run
}

func (a *act) drive(ctx context.Context) {
	if !a.halted {
		a.ended(ctx, a.watched(ctx, func(ctx context.Context) (err error) {
			a.sent, err = a.prepared.Send(ctx)
			return err
		}))
	}
}

// probe asks the final question, unless it could not be judged or nobody is there to answer.
func (a *act) probe(ctx context.Context) {
	if a.halted || a.unasked {
		return
	}
	a.probed = true
	terms := a.subject.terms()
	a.ended(ctx, a.watched(ctx, func(ctx context.Context) error {
		return a.sent.Probe(ctx, driver.Patience(time.Duration(terms.Contract.Lease)), terms.Keyless(), terms.Settled)
	}))
	if a.subject.target.AsksItself() && len(a.subject.target.Login) > 0 { // who logged in anew asks for the rows anew
		a.ended(ctx, a.lookAt())
	}
}

// follow asks what became of the requests that were accepted, for as long as the contract gives them.
func (a *act) follow(ctx context.Context) {
	if !a.halted {
		a.ended(ctx, a.sent.Follow(ctx))
	}
}

// ended notes why driving or probing came to its end before its time.
func (a *act) ended(ctx context.Context, err error) {
	var by stopped
	switch {
	case err == nil:
		return
	case errors.As(err, &by) || ctx.Err() != nil:
		a.incident(history.Interruption, err.Error())
	case errors.Is(err, driver.ErrTargetGone), errors.Is(err, errSilent):
		a.gone(err)
	default:
		a.incident(history.HarnessFault, err.Error())
	}
	a.halted, a.cut = true, true
}

func (a *act) removeFaults(ctx context.Context) {
	if err := a.lanes.RemoveFaults(context.WithoutCancel(ctx)); err != nil {
		a.incident(history.HarnessFault, err.Error())
	}
	if err := a.calmLinks(context.WithoutCancel(ctx)); err != nil {
		a.incident(history.HarnessFault, err.Error())
	}
	a.recordTraffic()
}

// close writes what is known only at the end. Proxies that stay behind on somebody's toxiproxy server
// are worth an error.
func (a *act) close(ctx context.Context, before int64) error {
	if err := a.sender.RecordPassages(); err != nil {
		return surroundings(err)
	}
	if after := a.count(context.WithoutCancel(ctx)); after >= 0 {
		a.record.Received(history.Received{Before: before, After: after})
	}
	a.tidyUp(ctx)
	if a.unknown.Load() {
		a.login = login{}
	}
	if !a.cut {
		a.record.Complete()
	}
	err := a.record.Err()
	if a.toxiproxy != "" {
		err = errors.Join(err, a.lanes.Close())
	}
	if err != nil {
		return surroundings(err)
	}
	return nil
}

func (a *act) incident(kind history.IncidentKind, text string) {
	if kind == history.TargetGone || kind == history.DatabaseGone {
		a.lost = kind
	}
	a.record.Incident(history.Incident{At: a.now(), Kind: kind, Text: text})
}

func (a *act) now() history.Offset { return max(1, history.Offset(time.Since(a.base))) }
