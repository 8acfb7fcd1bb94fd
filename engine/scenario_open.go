package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
)

// open opens the lanes and slows the links, and writes what the run is into the history as
// its first line. The pilot alone notes by its markers which questions on a link are
// writes.
func (r *scenarioRun) open(ctx context.Context, plan scenarios.Plan) error {
	system := r.session.System
	upstream, err := system.Upstream()
	if err != nil {
		return err
	}
	r.lanes, err = proxy.Open(ctx, r.scenario.Lanes, proxy.Options{
		Upstream: upstream, Instances: system.Process.Places, Socket: system.Target.Socket, Toxiproxy: r.session.config.SUT.Toxiproxy, Base: r.base,
		TLS: tlsOf(system), Streams: system.Target.Protocol == targets.HTTP2,
	})
	if err != nil {
		return runerror.Environment(err)
	}
	var words []string
	if r.pilot {
		pilot := r.workload(plan)
		words = pilot.Words()
	}
	err = r.slowLinks(ctx, words)
	r.sender = driver.New(r.sending(ctx, plan))
	if err == nil {
		err = runerror.Environment(r.record.Run(head(r, plan)))
	}
	if err != nil {
		return errors.Join(err, r.clearLinks(context.WithoutCancel(ctx)), r.lanes.Close())
	}
	return nil
}

// sending says what is sent, where, and what the driver may do to the target. The driver
// judges nothing, so what an answer means comes from the checker's terms, as hooks. Means
// that the target does not have are left nil; the plan of a scenario that needs them is
// empty.
func (r *scenarioRun) sending(ctx context.Context, plan scenarios.Plan) driver.Config {
	s, system, terms := r.session, r.session.System, r.session.System.Terms()
	config := driver.Config{
		Workload: r.workload(plan),
		Dialers:  dialers(r), Places: aims(s), Record: r.record, Rows: r.rowCounter(), Normal: s.normal + r.delay(), Inside: s.inside + r.delay(), Behind: s.behind.work, Pace: s.pace, RealTime: s.config.RealTime,
		GiveUp: mostUnanswered(r), Recovery: s.aftermath.within, Lasting: s.config.Hunt != nil,
		Hooks: driver.Hooks{
			Done: func() {
				s.config.Observe(Progress{Done: min(int(r.ended.Add(1)), len(plan.Intents)), Of: len(plan.Intents)})
			},
			Identity: terms.Named, Throttled: r.throttled, Unauthenticated: terms.Unauthenticated, Phase: terms.Phase,
		},
		Controls: driver.Controls{WriteGates: system.WriteGates(), Links: driverLinks(r), Prolong: prolong(r)},
		Repeat:   driver.Repeat{Offsets: s.config.Replay.Offsets, Moments: s.config.Replay.Moments},
	}
	if fleet := system.Process.Fleet; len(fleet) > 0 {
		config.PerCrash = perCrash(s, r.scenario, rounds(plan))
		config.Controls.Crasher = &driver.Crasher{Kill: fleet.Kill, Start: fleet.Restart}
		config.Controls.Revived = func() bool { return r.revived(ctx) == nil }
		config.Controls.Trap = &driver.Trap{Set: system.Sinks.Trap, Within: trapped + time.Duration(system.Target.SeenWithin())}
	}
	if store := system.Store; store != nil {
		config.Controls.Flush = func(ctx context.Context) (int, error) { return store.Flush(ctx, system.Target.Store.Flush) }
	}
	if len(terms.Contract.Ack.Accepted.Statuses) > 0 {
		config.Following = &driver.Following{
			Monitor: terms.Monitor, Settled: terms.Followed, Within: time.Duration(terms.Contract.Ack.Accepted.Within + recovery(r)),
		}
	}
	return config
}

// trapped is how long an effect that is to release a crash may come behind its answer, besides what the target file says.
const trapped = 5 * time.Second

// workload is what is sent, and by what names.
func (r *scenarioRun) workload(plan scenarios.Plan) driver.Workload {
	s, system := r.session, r.session.System
	return driver.Workload{
		Target: system.Target, Operations: system.Operations, Ways: system.Ways, Principals: system.Principals,
		Plan: plan, Names: driver.Names{Seed: plan.Seed, Run: s.manifest.Run + s.again, Scenario: plan.Scenario}, Base: r.base,
		Logins: s.login.lasting(),
	}
}

// throttled tells an answer that rejects a request before it reaches the target's code. On
// the way it notes those whose login is not valid any more, as the driver shows it each
// answer.
func (r *scenarioRun) throttled(at history.Attempt) bool {
	terms := r.session.System.Terms()
	if terms.Unauthenticated(at) {
		r.stale.Store(true)
	}
	return terms.Classify(at) == checker.Throttled
}

// dialers lead to the instances, or to the target where there is one.
func dialers(r *scenarioRun) []driver.Dialer {
	var all []driver.Dialer
	for i := range r.session.System.Process.Places {
		all = append(all, dialer(r, i+1))
	}
	if len(all) == 0 {
		all = append(all, dialer(r, 0))
	}
	return all
}

// dialer leads to one of the target's instances; 0: to the target. While a process is
// being started again, the dial waits for it: a refusal would be our doing.
func dialer(r *scenarioRun, instance int) driver.Dialer {
	dial := dialerOf(r.lanes, instance)
	return func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		if r.session.System.Process.Fleet.Down() {
			_ = r.revived(ctx) // a connection that fails tells the rest
		}
		return dial(ctx, lane)
	}
}

// dialerOf leads through lanes to an instance, or to whatever they lead to (0). Where there is no connection,
// there is no upstream tap.
func dialerOf(lanes *proxy.Lanes, instance int) driver.Dialer {
	return func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		conn, tap, err := lanes.DialInstance(ctx, lane, instance)
		if err != nil {
			return nil, nil, err
		}
		return conn, tap, nil
	}
}

// tlsOf returns how each instance is spoken to in TLS, each at its own address if it has one; nil: in plain text.
func tlsOf(system *sut.System) func(instance int) *tls.Config {
	if driver.TLS(system.Target) == nil {
		return nil
	}
	places := sut.Addresses(system)
	return func(instance int) *tls.Config {
		if instance > 0 && instance <= len(places) {
			return driver.TLS(places[instance-1])
		}
		return driver.TLS(system.Target)
	}
}

// laneFacts are the lanes as they were opened. In HTTP/2 the members of a burst share a connection, of which an upstream tap cannot tell
// what is of which: then none of the taps has seen every request.
func laneFacts(r *scenarioRun) []history.Lane {
	lanes := r.lanes.Facts()
	for i := range lanes {
		lanes[i].Doorstep = lanes[i].Doorstep && r.session.System.Target.Protocol != targets.HTTP2
	}
	return lanes
}

// head is the first line of a history: what has to be known to judge the rest of it again.
func head(r *scenarioRun, plan scenarios.Plan) history.Run {
	system := r.session.System
	run := history.Run{
		Format: history.Format, ID: r.session.manifest.Run, Tool: Version(), Scenario: r.scenario.Name, Summary: r.scenario.Summary,
		Target: system.Target.Name, Operation: system.Operation().Name, Seed: plan.Seed, Shard: r.session.config.Shard.String(), Started: r.base,
		Instances: len(system.Process.Places), Streams: system.Target.Protocol == targets.HTTP2,
		Addresses: r.session.addresses, Lanes: laneFacts(r), Links: r.links, Normal: history.Offset(r.session.normal), Whole: plan.Whole, Start: slowStart(r.session, plan), Calibrated: r.calibrated,
	}
	for _, p := range r.scenario.Exercised {
		run.Exercised = append(run.Exercised, history.Proof{Name: string(p.Name), AtLeast: p.AtLeast})
	}
	return run
}

// mostUnanswered is after how many intents that wait in vain no more is sent; 0: there is
// no such number. What the scenario breaks inside the target, or a dead execution that
// blocks its key, may keep a request for that long, and says nothing of the others.
func mostUnanswered(r *scenarioRun) int {
	if breaks(r.scenario) || time.Duration(r.session.System.Target.Contract.Lease) >= silence/2 {
		return 0
	}
	return enoughUnanswered
}
