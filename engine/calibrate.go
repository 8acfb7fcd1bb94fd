package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/stopwatch"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// How much is spent on finding out how short a window the bursts of a step hit.
const (
	calibrationBursts  = 40
	calibrationLongest = 2 * time.Second
)

// calibrate measures how tight the bursts of a scenario are on this machine: it sends
// bursts like them to a target of ours that notes when they come, through lanes with the
// same faults, and returns for each burst step how far apart the first two requests came.
// A pass can then say which window it would have hit. Bursts with a write gate are left
// out: they hit every window. A toxiproxy server elsewhere does not reach such a target.
func (s *Session) calibrate(ctx context.Context, scenario scenarios.Scenario) ([]history.Calibration, error) {
	if s.config.Private || s.config.Replay.Dir != "" || s.config.Hunt != nil {
		return nil, nil
	}
	if host, err := sut.HostOf(s.config.SUT.Toxiproxy); err != nil || host != "" && !sut.Loopback(host) {
		return nil, err
	}
	var all []history.Calibration
	for i, step := range scenario.Steps {
		if step.Burst == nil || step.Burst.WriteGate || ctx.Err() != nil {
			continue
		}
		gaps, err := s.gaps(ctx, scenario, step)
		if err != nil {
			return nil, runerror.Environment(fmt.Errorf("calibrate the bursts of %s: %w", scenario.Name, err))
		}
		c := history.Calibration{Step: i}
		for _, gap := range gaps {
			c.Gaps = append(c.Gaps, history.Offset(gap))
		}
		all = append(all, c)
	}
	return all, nil
}

// gaps sends the bursts of one step, for calibrationLongest at most. Nothing of it is
// recorded.
func (s *Session) gaps(ctx context.Context, scenario scenarios.Scenario, step scenarios.Step) (gaps []time.Duration, err error) {
	watch, err := stopwatch.Start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, watch.Close()) }()
	target, create := watch.Target()
	target.Protocol = s.System.Target.Protocol
	address, err := url.Parse(target.BaseURL)
	if err != nil {
		return nil, err
	}
	base := time.Now()
	lanes, err := proxy.Open(ctx, scenario.Lanes, proxy.Options{Upstream: address.Host, Toxiproxy: s.config.SUT.Toxiproxy, Base: base})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lanes.Close()) }()
	alike := *step.Burst // how requests are spelled changes nothing about when they come, and this target has no natural key
	alike.Spelling = ""
	step.Burst = &alike
	only := scenarios.Scenario{Name: scenario.Name, Intents: calibrationBursts, Concurrency: 1, Steps: []scenarios.Step{step}}
	config := driver.Config{
		Workload: driver.Workload{
			Target: target, Operations: []driver.Operation{{Name: "create", Operation: create}},
			Plan: scenarios.NewPlan(only, s.config.Seed), Names: driver.Names{Seed: s.config.Seed, Run: s.manifest.Run, Scenario: "calibration"}, Base: base,
		},
		Dialers: []driver.Dialer{dialerOf(lanes, 0)}, RealTime: s.config.RealTime,
		Record: history.NewWriter(io.Discard), Normal: s.normal,
	}
	ctx, cancel := context.WithTimeout(ctx, calibrationLongest)
	defer cancel()
	if err := driver.Send(ctx, config); err != nil && ctx.Err() == nil {
		return nil, err
	}
	return watch.Gaps(), nil
}
