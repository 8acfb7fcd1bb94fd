package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// manifest is what a run's directory says about itself: enough to judge its histories again. It holds
// no secrets: requests, whose headers may, are left out of the terms.
type manifest struct {
	Version   int           `json:"version"`
	Run       string        `json:"run"`
	Tool      string        `json:"tool"`
	Seed      uint64        `json:"seed"`
	Started   time.Time     `json:"started"`
	Target    string        `json:"target"`  // as named on the command line
	Subject   string        `json:"subject"` // the target's own name
	BaseURL   string        `json:"base_url"`
	Instances int           `json:"instances,omitempty"` // that were started of it; 0: none was
	Operation string        `json:"operation"`
	Terms     checker.Terms `json:"terms"`
	OwnWord   bool          `json:"own_word,omitempty"` // the rows are what the target itself says there is
	Toxiproxy string        `json:"toxiproxy,omitempty"`
	Again     string        `json:"again"`
	Replay    string        `json:"replay"`
	Shrink    string        `json:"shrink"`
	Export    string        `json:"export"`
	Scenarios []entry       `json:"scenarios"` // in the order of the run
}

// entry is one scenario of a run, with what its history cannot say.
type entry struct {
	Scenario string             `json:"scenario"`
	Summary  string             `json:"summary"`
	Known    []checker.KnownBug `json:"known,omitempty"`
	Verdict  checker.Verdict    `json:"verdict"`       // where Why is set
	Why      string             `json:"why,omitempty"` // it was not played, or not to its end; empty: ask the history
}

// readManifest reads what a run's directory says about itself.
func (d runDir) readManifest() (manifest, error) {
	var m manifest
	path := filepath.Join(d.path, manifestName)
	text, err := os.ReadFile(path)
	if missing(err) {
		return m, mistakef("%s is not the directory of a run: it has no %s", d.path, manifestName)
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil && m.Version != manifestVersion {
		err = fmt.Errorf("version %d, this doubletap reads version %d", m.Version, manifestVersion)
	}
	if err != nil {
		return m, mistake(fmt.Errorf("read %s: %w", path, err))
	}
	if len(m.Scenarios) == 0 {
		return m, mistakef("%s holds no scenario", d.path)
	}
	return m, nil
}

// report judges every scenario of a run by what is on disk. Run and check both come through here, so
// that they cannot differ.
func (d runDir) report(m manifest) *checker.Report {
	r := &checker.Report{
		Version: 1, Run: m.Run, Tool: m.Tool, Target: m.Subject, Seed: m.Seed, Started: stamp(m.Started),
		Dir: d.path, Replay: m.Replay, Shrink: m.Shrink, Export: m.Export, Again: m.Again, OwnWord: m.OwnWord,
	}
	for _, e := range m.Scenarios {
		r.Results = append(r.Results, d.judge(e, m))
	}
	numberFindings(r.Results)
	r.Verdict = overall(r.Results)
	return r
}

// judge judges one scenario. A history that does not bear a verdict takes nothing from the others.
func (d runDir) judge(e entry, m manifest) checker.Result {
	result := checker.Result{
		Scenario: e.Scenario, Summary: e.Summary, Seed: m.Seed, Verdict: e.Verdict, Reasons: []string{e.Why},
	}
	h, err := d.readHistory(e.Scenario)
	switch {
	case missing(err) && e.Why == "":
		result.Verdict, result.Reasons = checker.Inconclusive, []string{"it was not run: the run ended before it"}
		return result
	case missing(err):
		return result
	case err != nil:
		result.Verdict, result.Reasons = checker.Broken, []string{err.Error()}
		return result
	}
	result = checker.Check(h, m.Terms, e.Known...)
	if e.Why != "" {
		if !slices.ContainsFunc(result.Reasons, func(said string) bool { return strings.HasSuffix(e.Why, said) }) {
			result.Reasons = append([]string{e.Why}, result.Reasons...)
		}
		if result.Verdict != checker.Fail {
			result.Verdict = e.Verdict
		}
	}
	return result
}

// readHistory reads a scenario's history back from the disk. One that was never begun is missing.
func (d runDir) readHistory(scenario string) (*history.History, error) {
	path := filepath.Join(d.path, scenario, historyName)
	file, err := os.Open(path)
	if err != nil {
		return nil, mistake(describeMissing("history", path, err))
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() == 0 {
		return nil, mistake(fmt.Errorf("history %s is empty: %w", path, fs.ErrNotExist))
	}
	h, err := history.Read(file)
	if err != nil {
		return nil, mistake(fmt.Errorf("%s: %w", path, err))
	}
	return h, nil
}

// numberFindings gives every finding of a run its name: F1 is the one that a reader should see first.
func numberFindings(results []checker.Result) {
	var all []*checker.Finding
	for i := range results {
		for j := range results[i].Findings {
			all = append(all, &results[i].Findings[j])
		}
	}
	slices.SortStableFunc(all, func(a, b *checker.Finding) int { return checker.Compare(*a, *b) })
	for i, f := range all {
		f.ID = fmt.Sprintf("F%d", i+1)
	}
}

// missing reports that an error is about a file that is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
