package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Names inside a run's directory.
const (
	manifestName = "run.json"
	targetName   = "target.yaml"
	scenarioName = "scenario.yaml"
	planName     = "plan.jsonl"
	historyName  = "history.jsonl"
	findingsName = "findings"
	findingName  = "finding.json"
)

// manifest is what a run's directory says about itself: enough to judge its histories again.
type manifest struct {
	Version   int           `json:"version"`
	Run       string        `json:"run"`
	Tool      string        `json:"tool"`
	Seed      uint64        `json:"seed"`
	Started   time.Time     `json:"started"`
	Target    string        `json:"target"`  // as named on the command line
	Subject   string        `json:"subject"` // the target's own name
	BaseURL   string        `json:"base_url"`
	Operation string        `json:"operation"`
	Terms     checker.Terms `json:"terms"`
	Toxiproxy string        `json:"toxiproxy,omitempty"`
	Again     string        `json:"again"`
	Replay    string        `json:"replay"`
	Scenarios []string      `json:"scenarios"` // directories with a history, in order
	Skipped   []skipped     `json:"skipped,omitempty"`
}

// skipped is a scenario that the contract has nothing for.
type skipped struct {
	Scenario string `json:"scenario"`
	Summary  string `json:"summary"`
	Why      string `json:"why"`
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
	file, err := os.Create(filepath.Join(d.path, name))
	if err == nil {
		err = errors.Join(render(file), file.Close())
	}
	if err != nil {
		return surroundings(fmt.Errorf("write the run's files: %w", err))
	}
	return nil
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

// readHistory reads a scenario's history back from the disk.
func (d runDir) readHistory(scenario string) (*history.History, error) {
	path := filepath.Join(d.path, scenario, historyName)
	file, err := os.Open(path)
	if err != nil {
		return nil, mistake(describeMissing("history", path, err))
	}
	defer file.Close()
	h, err := history.Read(file)
	if err != nil {
		return nil, mistake(fmt.Errorf("%s: %w", path, err))
	}
	return h, nil
}

// readManifest reads what a run's directory says about itself.
func (d runDir) readManifest() (manifest, error) {
	var m manifest
	path := filepath.Join(d.path, manifestName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, mistakef("%s is not the directory of a run: it has no %s", d.path, manifestName)
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, mistake(fmt.Errorf("read %s: %w", path, err))
	}
	return m, nil
}
