package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// runner runs scenarios against one subject and tells of it.
type runner struct {
	subject *subject
	files   []scenarios.File
	plans   []scenarios.Plan // by file; an empty plan does not apply
	options runOptions
	streams streams
	style   reports.Style
	started time.Time
	id      string
	dir     runDir
	skipped []skipped
}

func newRunner(sub *subject, files []scenarios.File, o runOptions, s streams) *runner {
	now := time.Now()
	r := &runner{subject: sub, files: files, options: o, streams: s, started: now, id: newRunID(now), style: styleOf(s)}
	for _, f := range files {
		r.style.Names = max(r.style.Names, len(f.Scenario.Name))
		r.plans = append(r.plans, r.plan(f))
	}
	return r
}

// plan plans a scenario, unless the contract has nothing for it.
func (r *runner) plan(f scenarios.File) scenarios.Plan {
	if why := r.subject.lacks(f.Scenario.Needs); why != "" {
		r.skipped = append(r.skipped, skipped{Scenario: f.Scenario.Name, Summary: f.Scenario.Summary, Why: why})
		return scenarios.Plan{}
	}
	plan := scenarios.NewPlan(f.Scenario, r.options.seed)
	if r.options.only != nil {
		plan = plan.Only(r.options.only)
	}
	return plan
}

// announce says what will be sent, how much and where, and refuses too much.
func (r *runner) announce() error {
	n := requests(r.plans)
	applicable := len(r.files) - len(r.skipped)
	fmt.Fprintf(r.streams.out, "doubletap %s · target %s at %s · seed %d\n", version(), r.subject.target.Name, r.subject.target.BaseURL, r.options.seed)
	fmt.Fprintf(r.streams.out, "%s, at most %s and a final probe of each intent", plural(applicable, "scenario"), plural(n, "request"))
	if host := databaseHost(r.subject); host != "" {
		fmt.Fprintf(r.streams.out, " · rows read from %s", host)
	}
	fmt.Fprint(r.streams.out, "\n\n")
	if n > r.options.maxRequests {
		return mistakef("the scenarios may send %d requests, more than --max-requests %d", n, r.options.maxRequests)
	}
	return nil
}

// run plays the pilot and then every scenario, and writes the reports. What was done before an
// interruption or a failure is reported all the same.
func (r *runner) run(ctx context.Context) (*checker.Report, error) {
	var err error
	if r.dir, err = createRunDir(r.options.reports, r.id); err != nil {
		return nil, err
	}
	if err := r.writeManifest(); err != nil {
		return nil, err
	}
	stage := &stage{
		subject: r.subject, run: r.id, seed: r.options.seed, dir: r.dir,
		toxiproxy: r.options.toxiproxy, progress: func(int, int) {},
	}
	if err := stage.pilot(ctx); err != nil {
		if code, interrupted := interruption(ctx); interrupted {
			return nil, exit{code, errors.New("interrupted before the first scenario")}
		}
		return nil, err
	}
	results, failure := r.playAll(ctx, stage)
	report := r.report(results)
	if err := r.publish(report); err != nil {
		failure = errors.Join(failure, err)
	}
	if failure != nil && report.Verdict == checker.Fail {
		fmt.Fprintf(r.streams.err, "doubletap: %v\n", failure)
		failure = nil
	}
	return report, failure
}

func (r *runner) playAll(ctx context.Context, stage *stage) ([]checker.Result, error) {
	var results []checker.Result
	for i, f := range r.files {
		if len(r.plans[i].Intents) == 0 {
			results = append(results, r.notApplicable(f))
		} else {
			shown := newProgress(r.streams.err, f.Scenario.Name)
			stage.progress = shown.update
			result, err := stage.play(ctx, f, r.plans[i])
			shown.done()
			if err != nil {
				return results, fmt.Errorf("scenario %s: %w", f.Scenario.Name, err)
			}
			results = append(results, result)
		}
		fmt.Fprintln(r.streams.out, reports.Line(results[len(results)-1], r.style))
		if ctx.Err() != nil {
			break
		}
	}
	return results, nil
}

func (r *runner) notApplicable(f scenarios.File) checker.Result {
	result := checker.Result{
		Scenario: f.Scenario.Name, Summary: f.Scenario.Summary, Verdict: checker.NotApplicable, Seed: r.options.seed,
	}
	for _, s := range r.skipped {
		if s.Scenario == f.Scenario.Name {
			result.Reasons = []string{s.Why}
		}
	}
	return result
}

func (r *runner) writeManifest() error {
	m := manifest{
		Version: 1, Run: r.id, Tool: version(), Seed: r.options.seed, Started: r.started,
		Target: r.subject.name, Subject: r.subject.target.Name, BaseURL: r.subject.target.BaseURL,
		Operation: r.subject.opName, Terms: r.subject.terms(), Toxiproxy: r.options.toxiproxy,
		Again: r.again(), Replay: r.replayCommand(), Skipped: r.skipped,
	}
	for i, f := range r.files {
		if len(r.plans[i].Intents) > 0 {
			m.Scenarios = append(m.Scenarios, f.Scenario.Name)
		}
	}
	if r.subject.source != nil {
		if err := r.dir.write(r.subject.source, targetName); err != nil {
			return err
		}
	}
	return r.dir.writeJSON(m, manifestName)
}

// again is the command that does the whole run once more.
func (r *runner) again() string {
	words := []string{program(), "run", "--target", r.subject.name}
	words = append(words, r.databaseFlag()...)
	if r.options.toxiproxy != "" {
		words = append(words, "--toxiproxy", r.options.toxiproxy)
	}
	return strings.Join(append(words, "--seed", fmt.Sprint(r.options.seed)), " ")
}

func (r *runner) replayCommand() string {
	words := []string{program(), "replay", filepath.Join(r.dir.path, findingsName, "{}")}
	return strings.Join(append(words, r.databaseFlag()...), " ")
}

// databaseFlag names the database of a built-in target without its password.
func (r *runner) databaseFlag() []string {
	if r.options.database == "" {
		return nil
	}
	return []string{"--database", `"$` + databaseVariable + `"`}
}

func (r *runner) report(results []checker.Result) *checker.Report {
	numberFindings(results)
	return &checker.Report{
		Version: 1, Run: r.id, Tool: version(), Target: r.subject.target.Name, Seed: r.options.seed,
		Started: stamp(r.started), Dir: r.dir.path, Replay: r.replayCommand(), Again: r.again(),
		Verdict: overall(results), Results: results,
	}
}

// numberFindings gives every finding of a run its name.
func numberFindings(results []checker.Result) {
	n := 0
	for i := range results {
		for j := range results[i].Findings {
			n++
			results[i].Findings[j].ID = fmt.Sprintf("F%d", n)
		}
	}
}

// publish prints the report and writes it to the run's directory.
func (r *runner) publish(report *checker.Report) error {
	if err := reports.Details(r.streams.out, *report, r.style); err != nil {
		return surroundings(err)
	}
	err := errors.Join(
		r.dir.writeReports(*report),
		r.dir.writeFindings(*report, r.files, r.subject, r.options),
	)
	if report.Verdict == checker.Pass && r.options.target == defaultTarget && r.options.only == nil {
		fmt.Fprintf(r.streams.out, "\nTry next, against a design that looks right and is not:\n  %s run --target builtin:check-then-insert\n", program())
	}
	return err
}

// writeReports writes the report in every form.
func (d runDir) writeReports(report checker.Report) error {
	return errors.Join(
		d.render("report.txt", func(w io.Writer) error { return reports.Text(w, report, reports.Style{}) }),
		d.render("report.json", func(w io.Writer) error { return reports.JSON(w, report) }),
		d.render("report.md", func(w io.Writer) error { return reports.Markdown(w, report) }),
		d.render("junit.xml", func(w io.Writer) error { return reports.JUnit(w, report) }),
	)
}

// program is how this program was called, as far as it can be called so again.
func program() string {
	name := os.Args[0]
	if strings.Contains(name, "go-build") {
		return "go run ./cmd/doubletap"
	}
	return name
}

func styleOf(s streams) reports.Style {
	file, ok := s.out.(*os.File)
	if !ok {
		return reports.Style{}
	}
	return reports.StyleFor(file, func(name string) string { v, _ := s.getenv(name); return v })
}

func databaseHost(s *subject) string {
	if s.target.Database.URL == "" {
		return ""
	}
	if scheme, rest, found := strings.Cut(s.target.Database.URL, "://"); found {
		if _, host, secret := strings.Cut(rest, "@"); secret {
			rest = host
		}
		rest, _, _ = strings.Cut(rest, "?")
		return scheme + "://" + rest
	}
	return ""
}
