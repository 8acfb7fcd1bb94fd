// Package rundir keeps what a run leaves on disk: what it says about itself, plans, histories,
// findings and reports.
//
// A verdict always comes from these files, right after the run as years later, so `doubletap
// check` and the run itself cannot differ. Each run has a directory of its own, which is made and
// never taken over, and a history is never written over another one.
//
// A run's directory has run.json (manifest.go), a folder for each scenario with its source, plan
// and history, the reports, and a folder for each finding (finding.go). merge.go judges shards as
// one run; latest.go and latest_link.go find a run that a reader does not name.
//
// What is on disk may come from others. So files are read within bounds, and a command of a
// manifest is shown only if it is one of doubletap.
package rundir

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Names inside a run's directory, beside those of its scenarios.
const (
	ManifestName = "run.json"
	ScenarioName = "scenario.yaml"
	PlanName     = "plan.jsonl"
	HistoryName  = "history.jsonl"
	FindingsName = "findings"
	FindingName  = "finding.json"
	TargetName   = "target.yaml"
	ShardsName   = "shards" // of a run that was played by workers: what each shard left
)

// Names of the scenarios that go ahead of every run: one create, to see whether anything answers, and then three more,
// one after the other.
const (
	FirstPilotName = "pilot-knock"
	PilotName      = "pilot"
)

// PilotAcross is the name of the scenario that tries every principal, or every operation, that the run will need.
func PilotAcross(a scenarios.Across) string { return PilotName + "-" + string(a) }

// PilotWays is the name of the scenario that tries every other way to make the same, if the run will need it.
const PilotWays = PilotName + "-ways"

// PilotTogether is the name of the scenario that sends a slow target several plain creates at once.
const PilotTogether = PilotName + "-together"

// pilotAfter begins the names of pilots between scenarios.
const pilotAfter = PilotName + "-after-"

// PilotAfter is the name of a scenario of plain creates that see whether the target has recovered from another one.
func PilotAfter(scenario string, round int) string {
	return fmt.Sprintf("%s%s-%d", pilotAfter, scenario, round)
}

// IsPilotAfter reports that a name is one of [PilotAfter].
func IsPilotAfter(name string) bool { return strings.HasPrefix(name, pilotAfter) }

// ManifestVersion is the version of run.json.
const ManifestVersion = 1

// Reserved reports whether a scenario's name is taken by something else in a run's directory.
func Reserved(name string) bool {
	return IsPilotAfter(name) || slices.Contains([]string{
		FindingsName, ShardsName, FirstPilotName, PilotName, PilotAcross(scenarios.AcrossPrincipals), PilotAcross(scenarios.AcrossOperations), PilotWays, PilotTogether,
	}, name)
}

// Dir is the directory of one run.
type Dir struct{ Path string }

// NewID names a run by its time and four random letters, so that runs sort and never collide.
func NewID(now time.Time) string {
	letters := strings.ToLower(rand.Text()[:4])
	return now.UTC().Format("20060102-150405") + "-" + letters
}

// A run's directory and its files are for their owner only: they hold what an API answered.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Create makes the directory of a run below parent. Where there is no parent yet, git is told to leave it out.
func Create(parent, id string) (Dir, error) {
	if isLatestLink(filepath.Clean(parent)) {
		return Dir{}, runerror.Configf("%s leads to the latest run: a new one goes beside it, into %s", parent, filepath.Dir(parent))
	}
	path := filepath.Join(parent, id)
	made := !Exists(parent)
	err := os.MkdirAll(parent, 0o755)
	if err == nil && made { // runs are for the machine that they are on
		err = files.Replace(filepath.Join(parent, ".gitignore"), 0o644, func(w io.Writer) error { _, err := io.WriteString(w, "*\n"); return err })
	}
	if err != nil {
		if made {
			_ = os.Remove(parent) // it is empty; the next one then makes all of it
		}
		return Dir{}, runerror.Environment(fmt.Errorf("make the reports directory: %w", err))
	}
	if err := os.Mkdir(path, dirMode); err != nil {
		return Dir{}, runerror.Environment(fmt.Errorf("make the run's directory: %w", err))
	}
	return Dir{path}, nil
}

// Write writes one file of the run. If that fails, what was there before is there still.
func (d Dir) Write(content []byte, name ...string) error {
	path := filepath.Join(append([]string{d.Path}, name...)...)
	err := os.MkdirAll(filepath.Dir(path), dirMode)
	if err == nil {
		err = files.Replace(path, fileMode, func(w io.Writer) error { _, err := w.Write(content); return err })
	}
	if err != nil {
		return runerror.Environment(fmt.Errorf("write the run's files: %w", err))
	}
	return nil
}

// render writes one file of the run with a renderer.
func (d Dir) render(name string, render func(io.Writer) error) error {
	if err := files.Replace(filepath.Join(d.Path, name), fileMode, render); err != nil {
		return runerror.Environment(fmt.Errorf("write the run's files: %w", err))
	}
	return nil
}

// WriteJSON writes one file of the run as JSON.
func (d Dir) WriteJSON(value any, name ...string) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return runerror.Environment(fmt.Errorf("write the run's files: %w", err))
	}
	return d.Write(append(text, '\n'), name...)
}

// Begin makes a scenario's directory, with its source and its plan, and opens its history.
func (d Dir) Begin(f scenarios.File, plan scenarios.Plan) (*os.File, error) {
	name := f.Scenario.Name
	if err := d.Write(f.Source, name, ScenarioName); err != nil {
		return nil, err
	}
	if err := d.render(filepath.Join(name, PlanName), func(w io.Writer) error { _, err := plan.WriteTo(w); return err }); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(d.Path, name, HistoryName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return nil, runerror.Environment(fmt.Errorf("write the run's files: %w", err))
	}
	return file, nil
}

// aside ends the name of the directory of a scenario that is played once more.
const aside = ".before"

// SetAside makes room for a scenario that is played once more.
func (d Dir) SetAside(scenario string) error { return d.rename(scenario, scenario+aside) }

// KeepTry makes room for a scenario that is played once more, and keeps what there is of it as its nth try.
func (d Dir) KeepTry(scenario string, n int) error {
	return d.rename(scenario, try(scenario, n))
}

// TakeBack puts what was set aside in the place of what came after it.
func (d Dir) TakeBack(scenario string) error {
	if err := d.remove(scenario); err != nil {
		return err
	}
	return d.rename(scenario+aside, scenario)
}

// DropAside removes what was set aside.
func (d Dir) DropAside(scenario string) error { return d.remove(scenario + aside) }

// Drop removes what there is of a scenario.
func (d Dir) Drop(scenario string) error { return d.remove(scenario) }

// KeepAside keeps what was set aside as the first try of a scenario.
func (d Dir) KeepAside(scenario string) error { return d.rename(scenario+aside, try(scenario, 1)) }

// Swap puts what was set aside in the place of what came after it, which is kept as the first try.
func (d Dir) Swap(scenario string) error {
	if err := d.rename(scenario, try(scenario, 1)); err != nil {
		return err
	}
	return d.rename(scenario+aside, scenario)
}

// try is the name of the directory of a scenario's nth try.
func try(scenario string, n int) string { return fmt.Sprintf("%s.try-%d", scenario, n) }

// rename moves what there is of a scenario.
func (d Dir) rename(from, to string) error {
	if err := os.Rename(filepath.Join(d.Path, from), filepath.Join(d.Path, to)); err != nil {
		return runerror.Environment(fmt.Errorf("move the run's files: %w", err))
	}
	return nil
}

// remove removes what there is under a name; nothing being there is no error.
func (d Dir) remove(name string) error {
	if err := os.RemoveAll(filepath.Join(d.Path, name)); err != nil {
		return runerror.Environment(fmt.Errorf("remove the run's files: %w", err))
	}
	return nil
}

// WriteReports writes the report in every form, the one that programs read first. Paths has the paths of the
// scenarios that are files of the checkout.
func (d Dir) WriteReports(report checker.Report, paths map[string]string) error {
	return d.writeForms(forms(report, paths))
}

// gitLabName is the file of the report that GitLab reads.
const gitLabName = "gl-code-quality.json"

// form is a report in one form.
type form struct {
	name   string
	render func(io.Writer) error
}

// forms are all forms of a report.
func forms(report checker.Report, paths map[string]string) []form {
	return []form{
		{reportName, func(w io.Writer) error { return reports.JSON(w, report) }},
		{gitLabName, func(w io.Writer) error { return reports.GitLab(w, report, paths) }},
		{"junit.xml", func(w io.Writer) error { return reports.JUnit(w, report) }},
		{"report.md", func(w io.Writer) error { return reports.Markdown(w, report) }},
		{"report.html", func(w io.Writer) error { return reports.HTML(w, report) }},
		{"report.txt", func(w io.Writer) error { return reports.TextFile(w, report) }},
	}
}

// writeForms stops at the first form that cannot be written: the disk is as full for the others.
func (d Dir) writeForms(all []form) error {
	for _, one := range all {
		if err := d.render(one.name, one.render); err != nil {
			return err
		}
	}
	return nil
}
