package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Names of the scenarios that go ahead of every run: one create, to see whether anybody answers, and
// then three more, one after the other.
const (
	knockName = "pilot-knock"
	pilotName = "pilot"
)

// pilotAcross is the name of the scenario that tries every principal, or every operation, that the run
// will need.
func pilotAcross(a scenarios.Across) string { return pilotName + "-" + string(a) }

// pilotFile is so many plain creates, with what a client would wait for each.
func pilotFile(name string, creates int, timeout time.Duration, across scenarios.Across) scenarios.File {
	neighbours := ""
	if across != scenarios.AcrossNothing {
		neighbours = fmt.Sprintf("neighbours: {of: %d, across: %s}\n", creates, across)
	}
	source := fmt.Appendf(nil, `name: %s
summary: Plain creates, before anything is broken. They prove the target file and measure what a create takes.
intents: %d
concurrency: 1
%ssteps:
  - send: {timeout: %s}
exercised: [{proof: acknowledged, at_least: 100%%}]
`, name, creates, neighbours, timeout)
	s, err := scenarios.Load(name+".yaml", source)
	if err != nil {
		panic(err) // the text above is wrong
	}
	return scenarios.File{Path: name + ".yaml", Source: source, Scenario: s}
}

// pilotFiles are the pilot's scenarios, in their order. The last one sets the normal time.
func (s *stage) pilotFiles(timeout time.Duration) []scenarios.File {
	var files []scenarios.File
	for _, across := range s.across {
		creates := len(s.subject.principals)
		if across == scenarios.AcrossOperations {
			creates = len(s.subject.operations)
		}
		files = append(files, pilotFile(pilotAcross(across), creates, timeout, across))
	}
	knock := pilotFile(knockName, 1, timeout, scenarios.AcrossNothing)
	return append(append([]scenarios.File{knock}, files...), pilotFile(pilotName, 3, timeout, scenarios.AcrossNothing))
}

// pilot plays the pilot and says what is wrong with the target file or its surroundings, so that
// it is said once and not as hundreds of findings. It sets the stage's normal time.
func (s *stage) pilot(ctx context.Context, timeout time.Duration) error {
	if err := s.troubleWithCount(ctx); err != nil {
		return err
	}
	for _, f := range s.pilotFiles(timeout) {
		if err := s.play(ctx, f, scenarios.NewPlan(f.Scenario, s.seed)); err != nil {
			return err
		}
		h, err := s.dir.readHistory(f.Scenario.Name)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.troubleWithPilot(ctx, h); err != nil {
			return err
		}
		s.normal, s.moments = normalTime(h.Attempts), momentsOf(h)
	}
	s.lost = ""
	return nil
}

// troubleWithCount says why a target that is said to count its requests gives no number.
func (s *stage) troubleWithCount(ctx context.Context) error {
	if s.subject.target.Received == nil {
		return nil
	}
	_, err := s.subject.received(ctx, nil)
	switch {
	case err == nil:
		return nil
	case s.alive(ctx):
		return mistakef("received of %s: %w", s.subject.name, err)
	default:
		return s.notThere()
	}
}

func (s *stage) troubleWithPilot(ctx context.Context, h *history.History) error {
	if h.Before != nil && h.Before.Error != "" {
		if !s.alive(ctx) { // and its tables may have gone with it
			return s.notThere()
		}
		return s.troubleWithQuery(ctx, h.Before.Error)
	}
	if err := s.troubleWithFirstRows(h); err != nil {
		return err
	}
	for i, a := range h.Attempts {
		create := s.create(h.Intents[i])
		if err := create.troubleWith(a); err != nil {
			return err
		}
	}
	for _, f := range h.Followups {
		if err := s.troubleWithFollowup(f); err != nil {
			return err
		}
	}
	if r := checker.Check(h, s.subject.terms()); r.Verdict == checker.Broken {
		return surroundings(errors.New(r.Reasons[0]))
	}
	return s.troubleWithRows(ctx, h)
}

// normalTime is the median duration of the plain creates.
func normalTime(attempts []history.Attempt) time.Duration {
	var took []time.Duration
	for _, a := range attempts {
		took = append(took, (a.End - a.Start).Duration())
	}
	slices.Sort(took)
	return took[len(took)/2]
}
