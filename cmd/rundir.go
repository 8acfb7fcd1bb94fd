package cmd

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Names inside a run's directory, beside those of its scenarios.
const (
	manifestName = "run.json"
	scenarioName = "scenario.yaml"
	planName     = "plan.jsonl"
	historyName  = "history.jsonl"
	findingsName = "findings"
	findingName  = "finding.json"
	targetName   = "target.yaml"
)

// manifestVersion is the version of run.json.
const manifestVersion = 1

// reserved reports whether a scenario's name is taken by something else in a run's directory.
func reserved(name string) bool {
	return slices.Contains([]string{
		findingsName, knockName, pilotName, pilotAcross(scenarios.AcrossPrincipals), pilotAcross(scenarios.AcrossOperations),
	}, name)
}

// runDir is the directory of one run.
type runDir struct{ path string }

// newRunID names a run by its time and four random letters, so that runs sort and never collide.
func newRunID(now time.Time) string {
	letters := strings.ToLower(rand.Text()[:4])
	return now.UTC().Format("20060102-150405") + "-" + letters
}

// createRunDir makes the directory of a run below parent.
func createRunDir(parent, id string) (runDir, error) {
	path := filepath.Join(parent, id)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return runDir{}, surroundings(fmt.Errorf("make the reports directory: %w", err))
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		return runDir{}, surroundings(fmt.Errorf("make the run's directory: %w", err))
	}
	return runDir{path}, nil
}

// write writes one file of the run.
func (d runDir) write(content []byte, name ...string) error {
	path := filepath.Join(append([]string{d.path}, name...)...)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil {
		return surroundings(fmt.Errorf("write the run's files: %w", err))
	}
	return nil
}

// render writes one file of the run with a renderer.
func (d runDir) render(name string, render func(io.Writer) error) error {
	if err := renderFile(filepath.Join(d.path, name), render); err != nil {
		return surroundings(fmt.Errorf("write the run's files: %w", err))
	}
	return nil
}

// renderFile writes a file with a renderer. What was there stays until all of it is written.
func renderFile(path string, render func(io.Writer) error) error {
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(render(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), path)
}

func (d runDir) writeJSON(value any, name ...string) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return surroundings(fmt.Errorf("write the run's files: %w", err))
	}
	return d.write(append(text, '\n'), name...)
}

// begin makes a scenario's directory, with its source and its plan, and opens its history.
func (d runDir) begin(f scenarios.File, plan scenarios.Plan) (*os.File, error) {
	name := f.Scenario.Name
	if err := d.write(f.Source, name, scenarioName); err != nil {
		return nil, err
	}
	if err := d.render(filepath.Join(name, planName), func(w io.Writer) error { _, err := plan.WriteTo(w); return err }); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(d.path, name, historyName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, surroundings(fmt.Errorf("write the run's files: %w", err))
	}
	return file, nil
}

// writeReports writes the report in every form, the one that programs read first. It stops at the
// first that cannot be written: the disk is as full for the others. Files has the paths of the
// scenarios that are files of the checkout.
func (d runDir) writeReports(report checker.Report, files map[string]string) error {
	forms := []struct {
		name   string
		render func(io.Writer) error
	}{
		{"report.json", func(w io.Writer) error { return reports.JSON(w, report) }},
		{"gl-code-quality.json", func(w io.Writer) error { return reports.GitLab(w, report, files) }},
		{"junit.xml", func(w io.Writer) error { return reports.JUnit(w, report) }},
		{"report.md", func(w io.Writer) error { return reports.Markdown(w, report) }},
		{"report.html", func(w io.Writer) error { return reports.HTML(w, report) }},
		{"report.txt", func(w io.Writer) error { return reports.Text(w, report, reports.Style{}) }},
	}
	for _, form := range forms {
		if err := d.render(form.name, form.render); err != nil {
			return err
		}
	}
	return nil
}
