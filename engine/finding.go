package engine

import (
	"path/filepath"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// OpenFinding reads a finding's directory: what it says, and its scenario.
func OpenFinding(dir string) (rundir.Finding, []scenarios.File, error) {
	f, err := rundir.ReadFinding(dir)
	if err != nil {
		return f, nil, err
	}
	files, err := ReadScenario(filepath.Join(dir, rundir.ScenarioName))
	return f, files, err
}

// ReadScenario reads a scenario's file, or all of a folder.
func ReadScenario(path string) ([]scenarios.File, error) {
	files, err := findScenario(path, nil)
	return files, runerror.Config(err)
}
