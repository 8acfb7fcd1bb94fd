package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// mostFindings is the number of findings that get a directory of their own; the JSON report has all.
const mostFindings = 1000

// findingFile is what a finding's directory says: what was found, and what it takes, beside the
// scenario, to send the same plan again for the intent that broke.
type findingFile struct {
	Version    int             `json:"version"`
	Run        string          `json:"run"`
	Scenario   string          `json:"scenario"`
	Seed       uint64          `json:"seed"`
	Intents    []int           `json:"intents"`
	Target     string          `json:"target"` // builtin:NAME, or the target file as it was named
	Operation  string          `json:"operation"`
	Instances  int             `json:"instances,omitempty"` // of it, by flag; 0: as it says itself
	Toxiproxy  string          `json:"toxiproxy,omitempty"`
	Normal     history.Offset  `json:"normal"`               // of a plain create; spans that are shares are of this
	Confidence bound           `json:"confidence,omitempty"` // by which the number of intents was chosen
	Finding    checker.Finding `json:"finding"`
}

// findingOf returns what all findings of a run have in common.
func (r *runner) findingOf(normal time.Duration) findingFile {
	return findingFile{
		Version: 1, Run: r.manifest.Run, Seed: r.options.seed, Target: r.subject.name,
		Operation: r.subject.operation().Name, Instances: r.options.instances, Toxiproxy: r.manifest.Toxiproxy, Normal: history.Offset(normal),
		Confidence: r.options.confidence,
	}
}

// writeFindings gives every finding a directory with its evidence, its scenario, the plan of the intents
// that broke, and the target file if that may be read by others.
func (r *runner) writeFindings(report checker.Report, common findingFile) error {
	if !slices.ContainsFunc(report.Results, func(result checker.Result) bool { return len(result.Findings) > 0 }) {
		return nil
	}
	target := r.subject.fileWithoutSecrets(r.streams)
	written := 0
	for _, result := range report.Results {
		for _, finding := range result.Findings {
			if written++; written > mostFindings {
				return nil
			}
			file := common
			file.Scenario, file.Finding = result.Scenario, finding
			file.Intents = intentsOf(finding, result)
			if err := r.writeFinding(file, target); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *runner) writeFinding(f findingFile, target []byte) error {
	n := slices.IndexFunc(r.files, func(file scenarios.File) bool { return file.Scenario.Name == f.Scenario })
	var plan bytes.Buffer
	if _, err := r.plans[n].Only(f.Intents).WriteTo(&plan); err != nil {
		return surroundings(err)
	}
	err := r.dir.writeJSON(f, findingsName, f.Finding.ID, findingName)
	if err == nil {
		err = r.dir.write(r.files[n].Source, findingsName, f.Finding.ID, scenarioName)
	}
	if err == nil {
		err = r.dir.write(plan.Bytes(), findingsName, f.Finding.ID, planName)
	}
	if err == nil && target != nil {
		err = r.dir.write(target, findingsName, f.Finding.ID, targetName)
	}
	return err
}

// intentsOf returns the numbers of the intents that a finding is about.
func intentsOf(f checker.Finding, r checker.Result) []int {
	if f.Intent != checker.EveryIntent {
		n := 0
		fmt.Sscanf(f.Intent, "i%d", &n)
		return []int{n}
	}
	var all []int
	for n := range r.Intents {
		all = append(all, n+1)
	}
	return all
}

// readFinding reads what a finding's directory says.
func readFinding(dir string) (findingFile, error) {
	var f findingFile
	path := filepath.Join(dir, findingName)
	text, err := os.ReadFile(path)
	if missing(err) {
		return f, mistakef("%s is not the directory of a finding: it has no %s", dir, findingName)
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err == nil && (f.Version != 1 || f.Target == "" || len(f.Intents) == 0) {
		err = errors.New("it is no finding that this doubletap can read")
	}
	if err != nil {
		return f, mistake(fmt.Errorf("read %s: %w", path, err))
	}
	return f, nil
}

// openFinding reads a finding's directory: what it says, and its scenario.
func openFinding(dir string) (findingFile, []scenarios.File, error) {
	f, err := readFinding(dir)
	if err != nil {
		return f, nil, err
	}
	files, err := findScenario(filepath.Join(dir, scenarioName), nil)
	if err != nil {
		return f, nil, mistake(err)
	}
	return f, files, nil
}

// options fills in what the finding knows and the command line does not say.
func (f findingFile) options(o runOptions, dir string) runOptions {
	o.seed, o.only, o.finding, o.confidence = f.Seed, f.Intents, dir, f.Confidence
	o.offsets, o.moments = map[string]time.Duration{}, map[string]scenarios.Moment{}
	for _, a := range f.Finding.Attempts {
		if a.After > 0 {
			o.offsets[a.Intent] = a.After.Duration()
		}
		if a.Cut != nil {
			o.moments[a.Intent] = scenarios.Moment(a.Cut.Moment)
		}
	}
	if o.target == "" {
		o.target = f.Target
		if copied := filepath.Join(dir, targetName); gone(f.Target) && !gone(copied) {
			o.target = copied
		}
		if o.operation == "" {
			o.operation = f.Operation
		}
		if o.instances == 0 {
			o.instances = f.Instances
		}
	}
	if o.toxiproxy == "" {
		o.toxiproxy = f.Toxiproxy
	}
	return o
}

// gone reports that a target is a file that is not there.
func gone(target string) bool {
	_, err := os.Stat(target)
	_, builtIn := builtInDesign(target)
	return !builtIn && missing(err)
}
