package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// BringUpError says which step of bringing a system up failed.
type BringUpError struct {
	Step Step
	Err  error
}

func (e *BringUpError) Error() string { return e.Err.Error() }

func (e *BringUpError) Unwrap() error { return e.Err }

// Run plays all scenarios of a config and reports. It returns a report also where it
// fails, if there was anything to judge: a finding that was proven outranks a failure
// after it. A dry run has neither. The system is closed when it returns.
func Run(ctx context.Context, c Config) (report *checker.Report, err error) {
	var h *hunt
	if c.Hunt != nil {
		if c, h, err = hunting(c); err != nil {
			return nil, err
		}
	}
	s, err := Open(ctx, c)
	if s == nil || err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.config.DryRun {
		return nil, nil
	}
	if h != nil {
		return s.Report(h.play(ctx, s))
	}
	failure := s.PlayAll(ctx)
	if failure == nil && ctx.Err() == nil {
		failure = playMore(ctx, s)
	}
	return s.Report(failure)
}

// Open brings a system up: it loads the target, guards its hosts, announces the run, opens the links, starts the process, connects to
// the database and plays the pilot, which proves the target file. What was opened is closed again if a step fails.
func Open(ctx context.Context, c Config) (*Session, error) {
	s, err := newSession(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := s.bringUp(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newSession loads the target and plans all scenarios. It contacts nothing but what the
// target file itself asks for.
func newSession(ctx context.Context, c Config) (*Session, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	system, err := sut.Open(ctx, c.SUT, c.Scenarios)
	if err != nil {
		return nil, err
	}
	if err := sut.Apart(system); err != nil {
		return nil, errors.Join(err, system.Close())
	}
	s := &Session{System: system, config: c, silence: silence, company: &company{}, aftermath: aftermath{within: recoverWithin}, pace: driver.NewPace(system.Target.RateLimit), took: make([]time.Duration, len(c.Scenarios))}
	if c.Budget > 0 {
		s.budget.end = time.Now().Add(c.Budget)
	}
	for _, f := range c.Scenarios {
		s.enter(f)
	}
	return s, nil
}

// bringUp takes one step after the other and stops at the first that fails. The order is a
// matter of safety: no connection is opened before guard has seen every host. A process
// may bring its own database along, so then the database is opened behind it.
func (s *Session) bringUp(ctx context.Context) error {
	hosted := s.System.Target.Process != nil // its database is not there yet
	for _, step := range []struct {
		name    Step
		applies bool
		take    func(context.Context) error
	}{
		{StepHosts, true, s.guard},
		{StepLinks, true, s.System.OpenLinks},
		{StepDatabase, !hosted && !s.config.DryRun, s.connect},
		{StepProcess, hosted, s.start},
		{StepDatabase, hosted, s.connect},
		{StepPlainCreate, s.applicable() > 0, s.pilot},
	} {
		if !step.applies {
			continue
		}
		began := time.Now()
		if err := step.take(ctx); err != nil {
			return s.abort(ctx, &BringUpError{step.name, err})
		}
		if s.config.DryRun {
			return nil
		}
		s.config.Observe(BroughtUp{step.name, time.Since(began), addressOf(s, step.name)})
		if step.name == StepDatabase && !hosted {
			if err := s.begin(); err != nil {
				return err
			}
		}
	}
	return nil
}

// guard rejects hosts that are neither of this machine nor allowed by the target file,
// announces the run, and rejects one that is too large. Nothing has been contacted by
// then.
func (s *Session) guard(context.Context) error {
	if err := s.System.Guard(); err != nil {
		return err
	}
	a := s.announcement()
	s.config.Observe(a)
	if total := a.Requests + a.Steps; total > s.config.MaxRequests && s.config.Hunt == nil {
		return runerror.Configf("the scenarios may send %d requests, more than --max-requests %d", total, s.config.MaxRequests)
	}
	return nil
}

// start makes the run's directory and starts the target, whose log is there.
func (s *Session) start(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.System.Start(ctx, s.dir.Path); err != nil {
		return err
	}
	s.manifest.BaseURL = sut.PublicBase(s.System)
	return s.writeManifest()
}

// connect opens the database, and what scenarios need of it.
func (s *Session) connect(ctx context.Context) error {
	return s.System.Connect(ctx, func(need scenarios.Need) bool { return !s.config.Diagnose && s.needs(need) })
}

// begin makes the run's directory and says in it what is to come.
func (s *Session) begin() error {
	now := time.Now()
	id := rundir.NewID(now)
	if s.config.Private && s.config.Replay.Dir != "" {
		id += "-shrink"
	}
	var err error
	if s.dir, err = rundir.Create(s.config.Reports, id); err != nil {
		return err
	}
	m := &s.manifest
	m.Version, m.Run, m.Tool, m.Seed, m.Started = rundir.ManifestVersion, id, Version(), s.config.Seed, now
	m.Replays = s.config.Replay.Dir != ""
	m.Target, m.Subject, m.BaseURL, m.Instances = s.System.Name, s.System.Target.Name, sut.PublicBase(s.System), s.System.Instances()
	m.Shard = s.config.Shard.String()
	m.Operation, m.Terms, m.OwnWord = s.System.Operation().Name, s.System.Terms(), s.System.Target.AsksItself()
	m.Together = s.config.SUT.EachOperation
	m.NotPlayed, m.NoRows = s.System.NotPlayed(), s.System.RowsSource() == ""
	m.Unsure = sut.Unsure(s.System)
	m.Toxiproxy, m.Commands = sut.WithoutPassword(s.config.SUT.Toxiproxy), s.config.Commands(s.dir.Path, s.config.Seed)
	return s.writeManifest()
}

// writeManifest says on disk what the run is. It is written early and again at the end: a
// run that is killed can then still be judged by `check`.
func (s *Session) writeManifest() error {
	if s.config.Private {
		return nil
	}
	return s.dir.WriteJSON(s.manifest, rundir.ManifestName)
}

// abort ends a run that could not be brought up. There is nothing to tell but why; once there is a directory, the reports are
// written for those who collect them.
func (s *Session) abort(ctx context.Context, cause error) error {
	if s.dir.Path == "" || s.config.Private {
		return cause
	}
	verdict := checker.Broken
	if ctx.Err() != nil {
		verdict, cause = checker.Inconclusive, runerror.Configf("interrupted before the first scenario")
	} else if runerror.IsConfig(cause) || runerror.IsLimited(cause) {
		verdict = checker.Inconclusive
	}
	s.skip(nil, nil, verdict, fmt.Sprintf("it was not run: %v", cause))
	report := s.dir.Report(s.manifest)
	files := s.scenarioFiles()
	err := s.writeManifest()
	if err == nil {
		err = s.dir.WriteReports(*report, files)
	}
	s.config.Observe(RunAborted{Report: *report, Files: files, Replay: s.config.Replay.Dir != ""})
	if err != nil && err.Error() == cause.Error() { // one full disk is told of once
		return cause
	}
	return errors.Join(cause, err)
}

// addressOf is where something is that was brought up; empty: it has no address.
func addressOf(s *Session, step Step) string {
	switch step {
	case StepProcess:
		return sut.PublicBase(s.System)
	case StepDatabase:
		return sut.PublicURL(s.System.Target.Database.URL)
	default:
		return ""
	}
}
