package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// pilotFile is so many plain creates, with what a client would wait for each. It is a
// scenario like any other, loaded from a text, so that it is checked by the same schema
// and played by the same code. Its pass is what makes later findings the target's.
func pilotFile(name string, creates int, timeout time.Duration, across scenarios.Across) scenarios.File {
	neighbours, ways := "", ""
	if name == rundir.PilotWays {
		ways = ", ways: [other]"
	}
	if across != scenarios.AcrossNothing {
		neighbours = fmt.Sprintf("neighbours: {of: %d, across: %s}\n", creates, across)
	}
	source := fmt.Appendf(nil, `name: %s
summary: Plain creates, before anything is broken. They prove the target file and measure what a create takes.
intents: %d
concurrency: 1
%ssteps:
  - send: {timeout: %s%s}
exercised: [{proof: acknowledged, at_least: 100%%}]
`, name, creates, neighbours, timeout, ways)
	s, err := scenarios.Load(name+".yaml", source)
	if err != nil {
		panic(err) // the text above is wrong
	}
	return scenarios.File{Path: name + ".yaml", Source: source, Scenario: s}
}

// pilotAcross lists what the pilot has to try besides the run's principal and operation: what the neighbours of scenarios do not
// share. A diagnosis tries all there are.
func pilotAcross(s *Session) []scenarios.Across {
	var all []scenarios.Across
	if s.config.Diagnose {
		if len(s.System.Principals) > 1 {
			all = append(all, scenarios.AcrossPrincipals)
		}
		if len(s.System.Operations) > 1 {
			all = append(all, scenarios.AcrossOperations)
		}
		return all
	}
	for i, f := range s.config.Scenarios {
		if n := f.Scenario.Neighbours; n != nil && n.Across != scenarios.AcrossNothing && n.Across != scenarios.AcrossParents && len(s.plans[i].Intents) > 0 && !slices.Contains(all, n.Across) {
			all = append(all, n.Across)
		}
	}
	return all
}

// pilotNeedsWays reports that a scenario sends by other ways, or that a diagnosis tries all there is.
func pilotNeedsWays(s *Session) bool {
	return len(s.System.Ways) > 0 && (s.config.Diagnose || s.needs(scenarios.NeedsWays))
}

// pilotFiles are the pilot's scenarios, in their order. The last one sets the normal time.
func pilotFiles(s *Session, timeout time.Duration) []scenarios.File {
	var files []scenarios.File
	for _, across := range pilotAcross(s) {
		creates := len(s.System.Principals)
		if across == scenarios.AcrossOperations {
			creates = len(s.System.Operations)
		}
		files = append(files, pilotFile(rundir.PilotAcross(across), creates, timeout, across))
	}
	if pilotNeedsWays(s) {
		files = append(files, pilotFile(rundir.PilotWays, 2*len(s.System.Ways), timeout, scenarios.AcrossNothing)) // two in a row take one
	}
	first := pilotFile(rundir.FirstPilotName, 1, timeout, scenarios.AcrossNothing)
	return append(append([]scenarios.File{first}, files...), pilotFile(rundir.PilotName, pilotCreatesOf(s), timeout, scenarios.AcrossNothing))
}

// pilot plays the pilot and says what is wrong with the target file or its environment, so
// that it is said once and not as hundreds of findings. It measures what all scenarios
// take as their unit: how long a create takes, how long it is inside the target, what
// passes the links.
func (s *Session) pilot(ctx context.Context) error {
	if err := diagnoseCount(ctx, s); err != nil {
		return err
	}
	var alike []time.Duration // that plain creates of one operation took
	for _, f := range pilotFiles(s, s.config.PilotTimeout) {
		h, err := playPilot(ctx, s, f)
		if err != nil {
			return err
		}
		s.normal, s.inside, s.passing = normalTime(h.Attempts), insideTime(h.Attempts), passingOf(h)
		if name := f.Scenario.Name; name != rundir.PilotAcross(scenarios.AcrossOperations) && name != rundir.PilotWays {
			alike = append(alike, durations(h.Attempts)...)
		}
		if f.Scenario.Name == rundir.PilotName {
			s.behind.work = workBehind(s, h)
			s.addresses = measured(s, h.Attempts)
		}
	}
	s.lost = ""
	var err error
	if s.slow, err = measureSlow(ctx, s, slices.Min(alike)); err != nil {
		return err
	}
	s.lost = ""
	if s.slow.beside, err = measureBeside(ctx, s); err != nil {
		return err
	}
	s.lost = ""
	playFewerCrashes(s)
	playFewer(s)
	return nil
}

// mostBehind is the longest time behind an answer in which a crash strikes: each of a scenario waits for it.
const mostBehind = 2 * time.Second

// workBehind is how long after their answers accepted creates were done, as their status resources say, or else the rows. It is the median:
// what is asked on a busy machine is known late.
func workBehind(s *Session, h *history.History) time.Duration {
	answered, accepted := map[string]history.Offset{}, false
	for _, a := range h.Attempts {
		answered[a.ID] = a.End
		accepted = accepted || s.System.Terms().Classify(a) == checker.Accepted
	}
	if !accepted {
		return 0
	}
	behind := s.behind.lag
	if len(h.Followups) > 0 {
		var all []time.Duration
		for _, f := range h.Followups {
			all = append(all, (f.At - answered[f.Attempt]).Duration())
		}
		behind = max(behind, slices.Sorted(slices.Values(all))[(len(all)-1)/2])
	}
	return min(behind, mostBehind)
}

// pilotTries bounds how often a file of the pilot is played: a target may decline some creates, and fail now and then.
const (
	pilotTries   = 10
	pilotPause   = 20 * time.Millisecond // after the first; longer after each
	tooMuchTries = 6                     // where an effect is greater than the file says: twice what it says for each by mistake, or for some by a race
	littleTries  = 3                     // where it is less, for which each try waits

	throttledPause = time.Second // at least, where the target limits its rate
)

// playPilot plays a file of the pilot until a create of each principal and operation in it
// is done, and returns what came of those that were. A target that declines one in five,
// or fails now and then, is not broken, and a file is not wrong of which only some creates do
// more or less than it says: up to pilotTries are made, and each is kept on disk.
func playPilot(ctx context.Context, s *Session, f scenarios.File) (*history.History, error) {
	defer func() { s.again = "" }()
	for try := 1; ; try++ {
		before := sizes(ctx, s)
		if err := s.Play(ctx, f, scenarios.NewPlan(f.Scenario, s.config.Seed)); err != nil {
			return nil, err
		}
		h, err := s.History(f.Scenario.Name)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		done := withoutFailures(s, h)
		if err = diagnosePilot(ctx, s, done, h, before); err == nil {
			return done, nil
		}
		// Try again only what may pass: a wrong path gives the same answer each time.
		var much tooMuch
		more := errors.As(err, &much) && errors.Unwrap(err) == error(much)
		if more && try >= tooMuchTries && much.doubt.Text != "" {
			s.Doubt = cmp.Or(s.Doubt, much.doubt)
			return done, nil
		}
		var little tooLittle
		less := errors.As(err, &little) && errors.Unwrap(err) == error(little) && try < littleTries
		if more = more && try < tooMuchTries || less; try == pilotTries || !more && !slices.ContainsFunc(done.Attempts, func(a history.Attempt) bool { return mayPass(s, a) }) {
			return nil, err
		}
		if err := s.dir.KeepTry(f.Scenario.Name, try); err != nil {
			return nil, err
		}
		s.again = fmt.Sprint("-", try)
		pause(ctx, untilNextTry(s, done, try))
	}
}

// untilNextTry is how long the pilot waits before it is played again: a target that limits its rate gets the time that it asks for.
func untilNextTry(s *Session, h *history.History, try int) time.Duration {
	wait := time.Duration(try) * pilotPause
	for _, a := range h.Attempts {
		if s.System.Terms().Classify(a) == checker.Throttled {
			wait = max(wait, throttledPause, driver.RetryAfter(a))
		}
	}
	return wait
}

// mayPass reports that a plain create was declined or throttled, or failed in a way that may be over with the next.
func mayPass(s *Session, a history.Attempt) bool {
	outcome := s.System.Terms().Classify(a)
	return a.Complete && a.Status >= 500 || outcome == checker.Declined || outcome == checker.Throttled
}

// withoutFailures leaves out the creates that were declined or failed, where another of the same principal and operation
// was done.
func withoutFailures(s *Session, h *history.History) *history.History {
	done := map[[2]string]bool{}
	for i, a := range h.Attempts {
		if !mayPass(s, a) {
			done[createOf(h.Intents[i], a)] = true
		}
	}
	kept := *h
	kept.Intents, kept.Attempts = nil, nil
	for i, a := range h.Attempts {
		if of := h.Intents[i]; !mayPass(s, a) || !done[createOf(of, a)] {
			kept.Intents, kept.Attempts = append(kept.Intents, of), append(kept.Attempts, a)
		}
	}
	return &kept
}

// createOf names the principal and the operation of a plain create.
func createOf(i history.Intent, a history.Attempt) [2]string {
	return [2]string{i.Principal, cmp.Or(i.Bodies[a.Body].Operation, i.Operation)}
}

// diagnoseCount says why a target that is said to count its requests gives no number.
func diagnoseCount(ctx context.Context, s *Session) error {
	if s.System.Target.Received == nil {
		return nil
	}
	_, err := s.System.Received(ctx, nil)
	switch {
	case err == nil:
		return nil
	case s.alive(ctx):
		return runerror.Configf("received of %s: %w", s.System.Name, err)
	default:
		return notAlive(ctx, s)
	}
}

// diagnosePilot says what is wrong with a history of the pilot, of which whole has also what passes. Before are the sizes of
// doubtful tables before it was played.
func diagnosePilot(ctx context.Context, s *Session, h, whole *history.History, before map[string]int) error {
	if h.Before != nil && h.Before.Error != "" {
		if !s.alive(ctx) { // and its tables may have gone with it
			return notAlive(ctx, s)
		}
		return diagnoseQuery(ctx, s, h.Before.Error)
	}
	if err := diagnoseFirstRows(s, h); err != nil {
		return err
	}
	for i, a := range h.Attempts {
		of := h.Intents[i]
		of.Operation = createOf(of, a)[1]
		if err := s.create(of).diagnose(a); err != nil {
			return err
		}
	}
	for _, f := range h.Followups {
		if err := diagnoseFollowup(s, f); err != nil {
			return err
		}
	}
	judged := checker.Check(whole, s.System.Terms())
	if judged.Verdict == checker.Broken {
		return runerror.Environment(errors.New(judged.Reasons[0]))
	}
	if err := diagnoseRows(ctx, s, h); err != nil {
		return err
	}
	if len(h.Attempts) < len(whole.Attempts) {
		return nil // what failed may have left something
	}
	return diagnoseSeveral(ctx, s, h, judged, grownSince(ctx, s, before))
}

// normalTime is the median duration of the plain creates.
func normalTime(attempts []history.Attempt) time.Duration {
	took := durations(attempts)
	return took[len(took)/2]
}

// durations are how long attempts took, the shortest first.
func durations(attempts []history.Attempt) []time.Duration {
	var took []time.Duration
	for _, a := range attempts {
		took = append(took, (a.End - a.Start).Duration())
	}
	slices.Sort(took)
	return took
}

// insideTime is the median time of the plain creates inside the target, as the upstream
// tap saw them; 0: it did not. It is shorter than the normal time by what the network
// takes.
func insideTime(attempts []history.Attempt) time.Duration {
	var took []time.Duration
	for _, a := range attempts {
		if p := a.Passage; p != nil && p.Arrived != 0 && p.Answered > p.Arrived {
			took = append(took, (p.Answered - p.Arrived).Duration())
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// PlainCreates is a scenario of so many plain creates, with what a client would wait for each.
func PlainCreates(name string, creates int, timeout time.Duration) scenarios.File {
	return pilotFile(name, creates, timeout, scenarios.AcrossNothing)
}
