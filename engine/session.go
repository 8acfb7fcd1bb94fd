package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// Session is one system that was brought up, and the directory of its run. [Open] makes
// one. It is not safe for concurrent use; scenarios that are played beside each other get
// a copy each, and takeOver brings back what they learnt.
type Session struct {
	System *sut.System
	Doubt  Doubt // about plain creates

	config    Config
	plans     []scenarios.Plan // by scenario of the config; one without intents does not apply
	manifest  rundir.Manifest
	dir       rundir.Dir
	pace      *driver.Pace
	login     login // that scenarios share
	silence   time.Duration
	lost      history.IncidentKind         // what went away in the last scenario: target or database; empty: nothing
	normal    time.Duration                // of a plain create, from the pilot
	inside    time.Duration                // of that: inside the target; 0: no tap saw it
	passing   map[string]scenarios.Passing // of a plain create, by link; from the pilot
	slow      speed                        // where plain creates are slow, from the pilot
	addresses []history.Address            // of a target with several, by instance; from the pilot
	aftermath aftermath
	behind    behind // answers
	company   *company
	beside    bool            // other scenarios are played meanwhile: what the target has received is not this one's alone
	took      []time.Duration // that it took to play a scenario, likewise
	again     string          // sets the names of a scenario that is played once more apart; empty: of all others
	budget    budget          // of the run
}

// Close closes the system.
func (s *Session) Close() error { return s.System.Close() }

// Discard closes the system of a session, and removes what a private one left on disk, if that is of no use any more.
func Discard(s *Session, useless bool) error {
	err := s.Close()
	if err == nil && useless && s.config.Private && s.dir.Path != "" {
		err = os.RemoveAll(s.dir.Path)
	}
	return err
}

// Normal is how long a plain create takes, as the pilot measured it.
func (s *Session) Normal() time.Duration { return s.normal }

// Exchanges is how many questions and answers pass a link for a plain create, as the pilot counted them.
func (s *Session) Exchanges(link string) int { return s.passing[link].Moments }

// Seed is the seed of the plans.
func (s *Session) Seed() uint64 { return s.config.Seed }

// History reads back what was recorded of a scenario.
func (s *Session) History(scenario string) (*history.History, error) {
	return s.dir.ReadHistory(scenario)
}

// enter plans a scenario and puts it into the manifest. One that the contract has nothing
// for gets an empty plan and the reason: it is reported as not applicable, and never as a
// pass.
func (s *Session) enter(f scenarios.File) {
	if s.config.Confidence > 0 && f.Scenario.Races() {
		f.Scenario = f.Scenario.WithIntents(Rounds(s.config.Confidence))
	}
	e := rundir.Entry{Scenario: f.Scenario.Name, Summary: f.Scenario.Summary, Known: s.knownBugs(f.Scenario)}
	var plan scenarios.Plan
	if e.Why = s.System.LeavesOut(f.Scenario); e.Why != "" {
		e.Verdict, e.Untried = checker.NotApplicable, sut.Untried(s.System, f.Scenario)
	} else {
		plan = scenarios.NewPlan(f.Scenario, s.config.Seed)
		if only := s.config.Replay.Only; only != nil {
			plan = plan.Only(only)
		} else if s.config.Intents > 0 {
			plan = plan.Only(firstIntents(s.config.Intents))
		}
		if plan = plan.Of(s.config.Shard); len(plan.Intents) == 0 {
			e.Verdict, e.Why = checker.NotApplicable, rundir.InOtherShards
		}
	}
	s.plans = append(s.plans, plan)
	s.manifest.Scenarios = append(s.manifest.Scenarios, e)
}

// firstIntents are the numbers of the first n intents.
func firstIntents(n int) []int {
	var numbers []int
	for i := range n {
		numbers = append(numbers, i+1)
	}
	return numbers
}

// knownBugs are those that a scenario's file and the register tell of. A replay is an experiment, which
// expects nothing.
func (s *Session) knownBugs(scenario scenarios.Scenario) []checker.KnownBug {
	if s.config.Replay.Dir != "" {
		return nil
	}
	var bugs []checker.KnownBug
	for _, k := range slices.Concat(scenario.Known, s.config.Known[scenario.Name]) {
		if !k.Concerns(s.System.Operation().Name) {
			continue
		}
		bugs = append(bugs, checker.KnownBug{
			Expect: checker.Kind(k.Expect), Detail: k.Detail, Link: k.Link,
			Elsewhere: k.Operation == "" && chosenOperation(s),
		})
	}
	return bugs
}

// chosenOperation reports that the operation is one of several, and not the one that a run plays of itself.
func chosenOperation(s *Session) bool {
	names := s.System.Target.OperationNames()
	return len(names) > 1 && (s.config.SUT.EachOperation || s.System.Operation().Name != names[0])
}

// needs reports whether any scenario that applies has a need: only then are write gates,
// the store and other means opened.
func (s *Session) needs(need scenarios.Need) bool {
	for i, f := range s.config.Scenarios {
		if len(s.plans[i].Intents) > 0 && slices.Contains(f.Scenario.Needs, need) {
			return true
		}
	}
	return false
}

// applicable counts the scenarios that the contract has something for.
func (s *Session) applicable() int {
	n := 0
	for _, p := range s.plans {
		n += min(len(p.Intents), 1)
	}
	return n
}

// Names lists the scenarios, in their order.
func (s *Session) Names() []string {
	var names []string
	for _, e := range s.manifest.Scenarios {
		names = append(names, e.Scenario)
	}
	return names
}

// PlayAll plays every scenario that applies, until one of them shows that going on is of
// no use. First those that may share the target, beside each other; then the others, and
// those that did not pass beside others, alone. What was done before an interruption or a
// failure is reported all the same.
func (s *Session) PlayAll(ctx context.Context) error {
	if !s.budget.end.IsZero() {
		fit(s, timeToFit(s))
	}
	settled, again, err := playBeside(ctx, s)
	if err != nil {
		s.skip(settled, again, checker.Inconclusive, failedBefore)
		return err
	}
	for _, i := range inOrder(s) {
		e := s.manifest.Scenarios[i]
		// Before the first scenario nothing can have been lost, and the target need not be
		// asked.
		if len(settled)+len(again) > 0 {
			if why, verdict := s.stopReason(ctx); why != "" {
				s.skip(settled, again, verdict, "it was not run: "+why)
				return nil
			}
		}
		if e.Why == leftOut {
			settled[i] = true // the report says it, with the others
		}
		if settled[i] {
			continue
		}
		play := playNth
		if again[i] {
			play = playAlone
		}
		err := play(ctx, s, i)
		settled[i] = true
		if err != nil {
			s.skip(settled, again, checker.Inconclusive, failedBefore)
			return fmt.Errorf("scenario %s: %w", e.Scenario, err)
		}
		if s.config.FailFast && resultOf(s, i).Verdict == checker.Fail {
			s.skip(settled, again, checker.Inconclusive, fmt.Sprintf("it was not run: %s failed, and the run was to end there (fail-fast)", e.Scenario))
			return nil
		}
	}
	return nil
}

// failedBefore is why a scenario was not played after doubletap failed.
const failedBefore = "it was not run: doubletap failed before it"

// PlayNamed plays one scenario, if it applies, and returns its result. An error is doubletap's own or the environment's.
func (s *Session) PlayNamed(ctx context.Context, name string) (checker.Result, error) {
	i := slices.IndexFunc(s.manifest.Scenarios, func(e rundir.Entry) bool { return e.Scenario == name })
	if i < 0 {
		return checker.Result{}, runerror.Configf("the session has no scenario %q", name)
	}
	err := playNth(ctx, s, i)
	return s.dir.Judge(s.manifest.Scenarios[i], s.manifest), err
}

// playNth plays one scenario, if it applies, and tells its result.
func playNth(ctx context.Context, s *Session, i int) error {
	defer s.show(i)
	if err := playQuietly(ctx, s, i); err != nil {
		return err
	}
	return playSooner(ctx, s, i)
}

// playQuietly plays one scenario, if it applies, and tells no result. A scenario that
// cannot show anything is noted and not played. The target gets its time to recover from
// the one before: what that broke must not be blamed on this one.
func playQuietly(ctx context.Context, s *Session, i int) error {
	f := s.config.Scenarios[i]
	if len(s.plans[i].Intents) > 0 {
		if why := notInside(s.passing, f.Scenario); why != "" {
			s.note(i, checker.NotApplicable, why)
			return nil
		}
		if why := leftToControl(s, i); why != "" {
			s.note(i, checker.Inconclusive, why)
			return nil
		}
		awaitRecovery(ctx, s)
		s.config.Observe(ScenarioStarted{f.Scenario.Name})
		began := time.Now()
		within, release := withinBudget(ctx, s)
		defer release()
		err := s.Play(within, f, s.plans[i])
		s.took[i] = time.Since(began)
		if err != nil && within.Err() == nil {
			s.note(i, checker.Broken, err.Error())
			return err
		}
		if err != nil { // what fails after a signal failed because of it
			s.note(i, checker.Inconclusive, interrupted(context.Cause(within)))
		}
	}
	return nil
}

// interrupted is why a scenario has no history that was interrupted.
func interrupted(err error) string {
	if errors.Is(err, errBudget) {
		return "it was not run: " + errBudget.Error()
	}
	return fmt.Sprintf("it was not run: the run was interrupted (%v)", err)
}

// LeaveOutUnplayed says of the scenarios that were not played that they do not count, and why.
func (s *Session) LeaveOutUnplayed(why string) {
	for i, e := range s.manifest.Scenarios {
		if e.Why == "" && !s.dir.Played(e.Scenario) {
			s.note(i, checker.NotApplicable, why)
		}
	}
}

// ReportOn is a report of one result, whose findings are numbered by themselves.
func (s *Session) ReportOn(r checker.Result) checker.Report {
	return *s.dir.ReportOn(s.manifest, []checker.Result{r})
}

// show tells the result of one scenario.
func (s *Session) show(i int) {
	s.config.Observe(ScenarioDone{s.dir.Judge(s.manifest.Scenarios[i], s.manifest)})
}

// stopReason says why the scenarios to come would show nothing; empty: they may. A target
// that was lost in the last scenario is asked once more, since it may have been started
// again; then what was lost is forgotten. The verdict is what scenarios get that are not
// played.
func (s *Session) stopReason(ctx context.Context) (string, checker.Verdict) {
	switch {
	case ctx.Err() != nil:
		return "the run was interrupted", checker.Inconclusive
	case s.budget.over():
		return errBudget.Error(), checker.Inconclusive
	case s.lost == history.TargetGone && !s.alive(ctx):
		return "the target is gone", checker.Broken
	case s.lost == history.NoAnswer:
		return "the target takes requests and answers none", checker.Inconclusive
	case s.lost == history.DatabaseGone && !s.tellsRows(ctx):
		if s.System.Rows == nil {
			return "the target does not tell its rows any more", checker.Inconclusive
		}
		return "the database is gone", checker.Inconclusive
	}
	s.lost = ""
	return "", checker.Inconclusive
}

// note says of a scenario what its history cannot.
func (s *Session) note(i int, v checker.Verdict, why string) {
	s.manifest.Scenarios[i].Verdict, s.manifest.Scenarios[i].Why = v, why
}

// skip notes why the scenarios are not played that have no result. Those that do not apply still do not; and those that did not
// pass beside others, and were to be played again, keep what they showed there.
func (s *Session) skip(settled, again map[int]bool, v checker.Verdict, why string) {
	for i, p := range s.plans {
		switch {
		case settled[i] || len(p.Intents) == 0:
		case again[i]:
			s.show(i)
		default:
			s.note(i, v, why)
		}
	}
}

// MarkLatest has [rundir.LatestName] lead to a run in the default directory. In one that a user has named there is no such link: a
// pattern over that directory takes each run once.
func MarkLatest(d rundir.Dir) {
	if filepath.Dir(d.Path) == filepath.Clean(DefaultReports) {
		d.MarkLatest()
	}
}

// Report judges what is on disk and writes the reports and the findings. It reads the
// files and not the memory of the run, so that `check` on the same directory gives the
// same verdict. The failure that ended the run comes back beside the report, with whatever
// could not be written.
func (s *Session) Report(failure error) (*checker.Report, error) {
	report := s.dir.Report(s.manifest)
	if s.config.Private {
		return report, failure
	}
	files := s.scenarioFiles()
	err := s.writeManifest()
	if err == nil {
		err = s.dir.WriteReports(*report, files)
	}
	if err == nil {
		err = s.writeFindings(*report)
	}
	if err == nil && s.config.Replay.Dir == "" {
		MarkLatest(s.dir)
	}
	s.config.Observe(RunDone{Report: *report, Files: files, Replay: s.config.Replay.Dir != ""})
	return report, errors.Join(failure, err)
}

// writeFindings gives every finding a directory with its evidence, its scenario, the plan
// of the intents that broke, and the target file if that may be read by others: all that
// it takes to send it again on another machine. Of very many, the first.
func (s *Session) writeFindings(report checker.Report) error {
	if !slices.ContainsFunc(report.Results, func(result checker.Result) bool { return len(result.Findings) > 0 }) {
		return nil
	}
	target := s.System.FileWithoutSecrets()
	written := 0
	for _, result := range report.Results {
		n := slices.IndexFunc(s.config.Scenarios, func(f scenarios.File) bool { return f.Scenario.Name == result.Scenario })
		for _, finding := range result.Findings {
			if written++; written > rundir.MostFindings {
				return nil
			}
			f := s.finding()
			f.Seed = s.plans[n].Seed
			f.Scenario, f.Finding, f.Intents = result.Scenario, finding, rundir.IntentsOf(finding, result)
			f.Shown, f.Of = f.ShownIn(result), result.Of()
			if err := s.dir.WriteFinding(f, s.config.Scenarios[n].Source, s.plans[n], target); err != nil {
				return err
			}
		}
	}
	return nil
}

// scenarioFiles returns the scenarios' files by name, relative to the root of the checkout. Those that
// are built in, or outside of it, have none.
func (s *Session) scenarioFiles() map[string]string {
	paths := map[string]string{}
	for _, f := range s.config.Scenarios {
		source, err := files.Read(f.Path, files.MostText)
		if err != nil || !bytes.Equal(source, f.Source) {
			continue
		}
		if path, inside := within(s.config.Checkout, f.Path); inside {
			paths[f.Scenario.Name] = path
		}
	}
	return paths
}

// within returns a path relative to root, with slashes, if it is inside.
func within(root, path string) (string, bool) {
	var absolute [2]string
	for i, p := range []string{root, path} {
		var err error
		if absolute[i], err = filepath.Abs(p); err != nil {
			return "", false
		}
	}
	inner, err := filepath.Rel(absolute[0], absolute[1])
	return filepath.ToSlash(inner), err == nil && filepath.IsLocal(inner)
}
