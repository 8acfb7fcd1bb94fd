package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// runner runs scenarios against one subject and tells of it.
type runner struct {
	subject  *subject
	files    []scenarios.File
	plans    []scenarios.Plan // by file; one without intents does not apply
	options  runOptions
	streams  streams
	style    reports.Style
	dir      runDir
	manifest manifest
	unmute   string // line that lets GitHub Actions obey our output again; empty: it never stopped
}

func newRunner(sub *subject, files []scenarios.File, o runOptions, s streams) *runner {
	r := &runner{subject: sub, files: files, options: o, streams: s, style: styleOf(s)}
	for _, f := range files {
		r.style.Names = max(r.style.Names, len(f.Scenario.Name))
		r.enter(f)
	}
	return r
}

// enter plans a scenario and puts it into the manifest, with the reason if the contract has nothing
// for it.
func (r *runner) enter(f scenarios.File) {
	if r.options.confidence > 0 && f.Scenario.Races() {
		f.Scenario = f.Scenario.WithIntents(r.options.confidence.rounds())
	}
	e := entry{Scenario: f.Scenario.Name, Summary: f.Scenario.Summary, Known: r.options.knownBugs(f.Scenario)}
	var plan scenarios.Plan
	if e.Why = r.subject.leavesOut(f.Scenario); e.Why != "" {
		e.Verdict = checker.NotApplicable
	} else {
		plan = scenarios.NewPlan(f.Scenario, r.options.seed)
		if only := r.options.only; only != nil {
			plan = plan.Only(only)
		} else if r.streams.given.intents > 0 {
			plan = plan.Only(r.streams.given.first())
		}
	}
	r.plans = append(r.plans, plan)
	r.manifest.Scenarios = append(r.manifest.Scenarios, e)
}

// needs reports whether a scenario that applies has a need.
func (r *runner) needs(need scenarios.Need) bool {
	for i, f := range r.files {
		if len(r.plans[i].Intents) > 0 && slices.Contains(f.Scenario.Needs, need) {
			return true
		}
	}
	return false
}

// applicable counts the scenarios that the contract has something for.
func (r *runner) applicable() int {
	n := 0
	for _, p := range r.plans {
		n += min(len(p.Intents), 1)
	}
	return n
}

// run plays the pilot and then every scenario, and writes the reports. What was done before an
// interruption or a failure is reported all the same; the failure comes beside the report.
func (r *runner) run(ctx context.Context) (*checker.Report, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	if r.subject.target.Process != nil {
		if err := r.start(ctx); err != nil {
			return r.grounded(ctx, err)
		}
	}
	r.unmute = muteCommands(r.streams)
	stage := &stage{
		subject: r.subject, run: r.manifest.Run, seed: r.options.seed, dir: r.dir,
		toxiproxy: r.options.toxiproxy, offsets: r.options.offsets, struckAt: r.options.moments, uncalibrated: r.options.unpublished || r.options.finding != "",
		progress: func(int, int) {}, silence: silence, across: r.across(), pace: driver.NewPace(r.subject.target.RateLimit),
	}
	if r.applicable() > 0 {
		if err := stage.pilot(ctx, r.options.pilotTimeout); err != nil {
			return r.grounded(ctx, err)
		}
	}
	failure := r.playAll(ctx, stage)
	report := r.dir.report(r.manifest)
	if r.options.unpublished {
		return report, failure
	}
	return report, errors.Join(failure, r.publish(*report, stage.normal))
}

// across lists what the neighbours of the scenarios that apply do not share.
func (r *runner) across() []scenarios.Across {
	var all []scenarios.Across
	for i, f := range r.files {
		if n := f.Scenario.Neighbours; n != nil && n.Across != scenarios.AcrossNothing && len(r.plans[i].Intents) > 0 && !slices.Contains(all, n.Across) {
			all = append(all, n.Across)
		}
	}
	return all
}

// begin makes the run's directory and says in it what is to come.
func (r *runner) begin() error {
	now := time.Now()
	id := newRunID(now)
	var err error
	if r.dir, err = createRunDir(r.options.reports, id); err != nil {
		return err
	}
	r.manifest = manifest{
		Version: manifestVersion, Run: id, Tool: version(), Seed: r.options.seed, Started: now,
		Target: r.subject.name, Subject: r.subject.target.Name, BaseURL: r.subject.target.BaseURL, Instances: r.subject.instances(),
		Operation: r.subject.operation().Name, Terms: r.subject.terms(), Toxiproxy: withoutPassword(r.options.toxiproxy), OwnWord: r.subject.target.AsksItself(),
		Again: r.options.again(), Replay: r.options.about(r.dir, "replay"),
		Shrink: r.options.about(r.dir, "shrink"), Export: r.options.about(r.dir, "export"), Scenarios: r.manifest.Scenarios,
	}
	if again := r.streams.given.again; again != "" { // no command line reaches what was given
		r.manifest.Again, r.manifest.Replay, r.manifest.Shrink, r.manifest.Export = again, "", "", ""
	}
	return r.dir.writeJSON(r.manifest, manifestName)
}

// start starts the target and connects to its database.
func (r *runner) start(ctx context.Context) error {
	if err := r.subject.start(ctx, r.dir, r.streams); err != nil {
		return err
	}
	r.manifest.BaseURL = r.subject.target.BaseURL
	if err := r.dir.writeJSON(r.manifest, manifestName); err != nil {
		return err
	}
	return r.subject.connect(ctx, r.needs)
}

// grounded ends a run whose pilot did not come through. There is nothing to tell but why; the files
// are written for those who collect them.
func (r *runner) grounded(ctx context.Context, cause error) (*checker.Report, error) {
	verdict := checker.Broken
	if _, interrupted := interruption(ctx); interrupted {
		verdict, cause = checker.Inconclusive, mistake(errors.New("interrupted before the first scenario"))
	} else if codeOf(cause) == exitMistake {
		verdict = checker.Inconclusive
	}
	r.skip(0, verdict, fmt.Sprintf("it was not run: %v", cause))
	report := r.dir.report(r.manifest)
	err := r.dir.writeJSON(r.manifest, manifestName)
	if err == nil {
		err = r.dir.writeReports(*report, r.scenarioFiles())
	}
	r.tellGitHub(*report)
	return nil, errors.Join(cause, err)
}

// playAll plays every scenario that applies, until one of them shows that going on is of no use.
func (r *runner) playAll(ctx context.Context, stage *stage) error {
	for i, f := range r.files {
		if len(r.plans[i].Intents) > 0 {
			err := r.play(ctx, stage, i)
			if err != nil && ctx.Err() != nil { // what fails after a signal failed because of it
				r.note(i, checker.Inconclusive, fmt.Sprintf("it was not run: the run was interrupted (%v)", err))
			} else if err != nil {
				r.note(i, checker.Broken, err.Error())
				r.show(i)
				r.skip(i+1, checker.Inconclusive, "it was not run: doubletap failed before it")
				return fmt.Errorf("scenario %s: %w", f.Scenario.Name, err)
			}
		}
		r.show(i)
		if why, verdict := r.hopeless(ctx, stage); why != "" {
			r.skip(i+1, verdict, "it was not run: "+why)
			return nil
		}
	}
	return nil
}

func (r *runner) play(ctx context.Context, stage *stage, i int) error {
	shown := newProgress(r.streams.err, r.files[i].Scenario.Name)
	defer shown.done()
	stage.progress = shown.update
	return stage.play(ctx, r.files[i], r.plans[i])
}

// hopeless says why the scenarios to come would show nothing; empty: they may.
func (r *runner) hopeless(ctx context.Context, stage *stage) (string, checker.Verdict) {
	switch {
	case ctx.Err() != nil:
		return "the run was interrupted", checker.Inconclusive
	case stage.lost == history.TargetGone && !stage.alive(ctx):
		return "the target is gone", checker.Broken
	case stage.lost == history.DatabaseGone && !stage.tellsRows(ctx):
		if r.subject.reader == nil {
			return "the target does not tell its rows any more", checker.Inconclusive
		}
		return "the database is gone", checker.Inconclusive
	}
	stage.lost = ""
	return "", checker.Inconclusive
}

// note says of a scenario what its history cannot.
func (r *runner) note(i int, v checker.Verdict, why string) {
	r.manifest.Scenarios[i].Verdict, r.manifest.Scenarios[i].Why = v, why
}

// skip notes why the scenarios from the i-th on are not played. Those that do not apply still do not.
func (r *runner) skip(i int, v checker.Verdict, why string) {
	for ; i < len(r.files); i++ {
		if len(r.plans[i].Intents) > 0 {
			r.note(i, v, why)
		}
	}
}

// show prints the line of one scenario.
func (r *runner) show(i int) {
	result := r.dir.judge(r.manifest.Scenarios[i], r.manifest)
	fmt.Fprintln(r.streams.out, reports.Line(result, r.style))
}

// publish writes the report to the run's directory and prints it. A terminal that is gone must not
// keep it from the disk.
func (r *runner) publish(report checker.Report, normal time.Duration) error {
	err := r.dir.writeJSON(r.manifest, manifestName)
	if err == nil {
		err = r.dir.writeReports(report, r.scenarioFiles())
	}
	if err == nil {
		err = r.writeFindings(report, r.findingOf(normal))
	}
	if shown := reports.Details(r.streams.out, report, r.style); shown != nil {
		err = errors.Join(err, surroundings(shown))
	}
	r.tellGitHub(report)
	if report.Verdict == checker.Pass && r.options.target == defaultTarget && r.options.finding == "" {
		fmt.Fprintf(r.streams.out, "\nTry next, against a design that looks right and is not:\n  %s run --target builtin:check-then-insert\n", program())
	}
	return err
}

func styleOf(s streams) reports.Style {
	file, ok := s.out.(*os.File)
	if !ok {
		return reports.Style{}
	}
	return reports.StyleFor(file, func(name string) string { v, _ := s.getenv(name); return v })
}
