package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// How long a scenario waits for the target to become quiet.
const (
	quietPoll    = 20 * time.Millisecond // between two looks
	quietLongest = 15 * time.Second
	lastLook     = 3 * time.Second // for the snapshot of an interrupted run
)

// stage is where scenarios are played: one run's subject and directory.
type stage struct {
	subject   *subject
	run       string
	seed      uint64
	dir       runDir
	toxiproxy string
	normal    time.Duration // of a plain create, from the pilot
	progress  func(done, of int)
}

// play runs one scenario from its plan to its verdict. An error is the harness's own; whatever the
// target does ends in the result.
func (s *stage) play(ctx context.Context, f scenarios.File, plan scenarios.Plan) (checker.Result, error) {
	file, err := s.dir.begin(f, plan)
	if err != nil {
		return checker.Result{}, err
	}
	defer file.Close()
	act := &act{stage: s, scenario: f.Scenario, record: history.NewWriter(file), base: time.Now(), unasked: f.Scenario.Name == pilotName}
	if err := act.perform(ctx, plan); err != nil {
		return checker.Result{}, err
	}
	if err := file.Close(); err != nil {
		return checker.Result{}, surroundings(fmt.Errorf("write history: %w", err))
	}
	h, err := s.dir.readHistory(f.Scenario.Name)
	if err != nil {
		return checker.Result{}, err
	}
	return checker.Check(h, s.subject.terms()), nil
}

// act is one performance of one scenario.
type act struct {
	*stage
	scenario scenarios.Scenario
	record   *history.Writer
	base     time.Time
	lanes    *proxy.Lanes
	driver   *driver.Driver
	unasked  bool // the pilot asks no final question
	stopped  bool // the run was interrupted, or the target is gone
}

// perform is the road from plan to history: open lanes, assert that the markers are absent, drive,
// remove the faults, wait until quiet, snapshot, probe, wait until quiet, snapshot.
func (a *act) perform(ctx context.Context, plan scenarios.Plan) error {
	if err := a.open(ctx, plan); err != nil {
		return err
	}
	defer a.lanes.Close()
	if err := a.record.Run(a.head(plan)); err != nil {
		return surroundings(err)
	}
	received, err := a.count(ctx)
	if err != nil {
		return err
	}
	markers := a.driver.Markers()
	a.snapshot(ctx, history.BeforeName, markers)

	a.ended(ctx, a.driver.Drive(ctx))
	a.settle(ctx)
	if err := a.lanes.RemoveFaults(context.WithoutCancel(ctx)); err != nil {
		a.incident(history.HarnessFault, err.Error())
	}
	a.checkAlive(ctx)
	a.quietSnapshot(ctx, history.T1Name, markers)
	if !a.stopped && !a.unasked {
		a.driver.Done = nil
		terms := a.subject.terms()
		a.ended(ctx, a.driver.Probe(ctx, driver.Probing{}, terms.Keyless(), terms.Settled))
		a.settle(ctx)
		a.quietSnapshot(ctx, history.T2Name, markers)
	}
	return a.close(ctx, received)
}

func (a *act) open(ctx context.Context, plan scenarios.Plan) error {
	upstream, err := a.subject.upstream()
	if err != nil {
		return err
	}
	a.lanes, err = proxy.Open(ctx, a.scenario.Lanes, proxy.Options{Upstream: upstream, Toxiproxy: a.toxiproxy, Base: a.base})
	if err != nil {
		return surroundings(err)
	}
	done := 0
	a.driver = &driver.Driver{
		Target: a.subject.target, Operation: a.subject.operation, Principal: a.subject.principal,
		Plan: plan, Names: driver.Names{Seed: plan.Seed, Run: a.run, Scenario: plan.Scenario},
		Road: a.road, Record: a.record, Base: a.base, Normal: a.normal,
		Done: func() { done++; a.progress(done, len(plan.Intents)) },
	}
	if a.subject.reader != nil {
		a.driver.Rows = a.subject.reader.Rows
	}
	return nil
}

func (a *act) road(ctx context.Context, lane string) (net.Conn, driver.Passage, error) {
	conn, passage, err := a.lanes.Dial(ctx, lane)
	if err != nil {
		return nil, nil, err
	}
	return conn, passage.Facts, nil
}

func (a *act) head(plan scenarios.Plan) history.Run {
	run := history.Run{
		Format: history.Format, ID: a.run, Tool: version(), Scenario: a.scenario.Name, Summary: a.scenario.Summary,
		Target: a.subject.target.Name, Operation: a.subject.opName, Seed: plan.Seed, Started: a.base,
		Lanes: a.lanes.Facts(), Normal: history.Offset(a.normal),
	}
	for _, p := range a.scenario.Exercised {
		run.Exercised = append(run.Exercised, history.Proof{Name: p.Name, AtLeast: p.AtLeast})
	}
	return run
}

// ended notes why driving or probing came to its end before its time.
func (a *act) ended(ctx context.Context, err error) {
	var by stopped
	switch {
	case err == nil:
		return
	case errors.As(err, &by) || ctx.Err() != nil:
		a.incident(history.Interruption, err.Error())
	case errors.Is(err, driver.ErrTargetGone):
		a.incident(history.TargetGone, a.subject.target.BaseURL+": "+err.Error())
	default:
		a.incident(history.HarnessFault, err.Error())
	}
	a.stopped = true
}

// settle waits until no request is inside the target, and longer where clients left some behind
// whose end nobody could see.
func (a *act) settle(ctx context.Context) {
	deadline := time.Now().Add(quietLongest)
	for a.lanes.InFlight() > 0 && ctx.Err() == nil {
		if time.Now().After(deadline) {
			a.incident(history.StillBusy, fmt.Sprintf("%d requests were still unanswered %s after the last one was sent", a.lanes.InFlight(), quietLongest))
			return
		}
		pause(ctx, quietPoll)
	}
	if unseen, _ := a.driver.Suspicious(); unseen {
		pause(ctx, time.Duration(a.subject.target.Settle))
	}
}

// checkAlive asks a target whose answers broke on the clean lane whether it is still there: a target
// that died is reported as such, not as so many lost writes.
func (a *act) checkAlive(ctx context.Context) {
	if _, broke := a.driver.Suspicious(); !broke || a.stopped {
		return
	}
	if err := driver.Alive(ctx, a.subject.target); err != nil && ctx.Err() == nil {
		a.incident(history.TargetGone, fmt.Sprintf("%s: the target answers nothing any more: %v", a.subject.target.BaseURL, err))
		a.stopped = true
	}
}

// quietSnapshot takes snapshots until two in a row are equal, and records the last.
func (a *act) quietSnapshot(ctx context.Context, name string, markers []string) {
	if a.subject.reader == nil {
		a.record.Snapshot(name, history.Snapshot{At: a.now(), Error: "the target file names no database"})
		return
	}
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), quietLongest)
	if ctx.Err() != nil {
		look, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	}
	defer cancel()
	last := a.subject.reader.Snapshot(look, markers)
	for last.Error == "" {
		pause(look, quietPoll)
		next := a.subject.reader.Snapshot(look, markers)
		if reflect.DeepEqual(last.Rows, next.Rows) || next.Error != "" {
			last = next
			break
		}
		last = next
	}
	a.recordSnapshot(name, last)
}

func (a *act) snapshot(ctx context.Context, name string, markers []string) {
	if a.subject.reader != nil {
		a.recordSnapshot(name, a.subject.reader.Snapshot(ctx, markers))
	}
}

func (a *act) recordSnapshot(name string, s history.Snapshot) {
	s.At = a.now()
	if s.Error != "" {
		a.incident(history.DatabaseGone, s.Error)
	}
	a.record.Snapshot(name, s)
}

// count asks the target how many requests it has received; -1 where it cannot count.
func (a *act) count(ctx context.Context) (int64, error) {
	if a.subject.target.Received == nil {
		return -1, nil
	}
	n, err := driver.Received(ctx, a.subject.target)
	if err != nil {
		return 0, surroundings(err)
	}
	return n, nil
}

// close writes what is known only at the end.
func (a *act) close(ctx context.Context, before int64) error {
	if err := a.driver.RecordPassages(); err != nil {
		return surroundings(err)
	}
	if after, err := a.count(context.WithoutCancel(ctx)); err == nil && before >= 0 {
		a.record.Received(history.Received{Before: before, After: after})
	}
	if !a.stopped {
		a.record.Complete()
	}
	if err := a.record.Err(); err != nil {
		return surroundings(err)
	}
	return nil
}

func (a *act) incident(kind history.IncidentKind, text string) {
	a.record.Incident(history.Incident{At: a.now(), Kind: kind, Text: text})
}

func (a *act) now() history.Offset { return max(1, history.Offset(time.Since(a.base))) }

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
