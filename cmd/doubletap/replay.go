package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// mostFindings is the number of findings that get a directory of their own; the JSON report has all.
const mostFindings = 1000

// findingFile is what a finding's directory says: what was found, and all that it takes to send the
// same plan again for the intents that broke.
type findingFile struct {
	Version   int             `json:"version"`
	Run       string          `json:"run"`
	Scenario  string          `json:"scenario"`
	Seed      uint64          `json:"seed"`
	Intents   []int           `json:"intents"`
	Target    string          `json:"target"` // builtin:NAME, or the target file beside this one
	Operation string          `json:"operation"`
	Toxiproxy string          `json:"toxiproxy,omitempty"`
	Finding   checker.Finding `json:"finding"`
}

// writeFindings gives every finding a directory with its evidence, its scenario and its target.
func (d runDir) writeFindings(report checker.Report, files []scenarios.File, sub *subject, o runOptions) error {
	written := 0
	for i, result := range report.Results {
		for _, finding := range result.Findings {
			if written++; written > mostFindings {
				return nil
			}
			file := findingFile{
				Version: 1, Run: report.Run, Scenario: result.Scenario, Seed: report.Seed,
				Intents: []int{intentNumber(finding.Intent)}, Target: sub.name, Operation: sub.opName,
				Toxiproxy: o.toxiproxy, Finding: finding,
			}
			if err := d.writeFinding(file, files[i].Source, sub.source); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d runDir) writeFinding(f findingFile, scenario, target []byte) error {
	errs := []error{
		d.writeJSON(f, findingsName, f.Finding.ID, findingName),
		d.write(scenario, findingsName, f.Finding.ID, scenarioName),
	}
	if target != nil {
		errs = append(errs, d.write(target, findingsName, f.Finding.ID, targetName))
	}
	return errors.Join(errs...)
}

func intentNumber(id string) int {
	n := 0
	fmt.Sscanf(id, "i%d", &n)
	return n
}

func newReplay(s streams) *cobra.Command {
	o := runOptions{}
	times := 1
	cmd := &cobra.Command{
		Use:   "replay FINDING",
		Short: "Send the plan of a finding again, only the intents that broke",
		Long: `Replay takes the directory of a finding, sends the same plan with the same seed again for the
intents that broke, and says whether the same promise broke again: exit 1 if it did at least once,
0 if it did not, 2 if the scenario could not be exercised.`,
		Example: "  doubletap replay reports/runs/20260102-150405-abcd/findings/F1 --times 20",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return replayCommand(cmd.Context(), args[0], times, o, s)
		},
	}
	o.flags(cmd)
	cmd.Flags().IntVar(&times, "times", times, "how often to send it")
	return cmd
}

func replayCommand(ctx context.Context, dir string, times int, o runOptions, s streams) error {
	if times < 1 {
		return mistakef("--times is %d, expected 1 or more", times)
	}
	f, err := readFinding(dir)
	if err != nil {
		return err
	}
	files, err := findScenario(filepath.Join(dir, scenarioName), nil)
	if err != nil {
		return mistake(err)
	}
	o = f.options(o, dir)
	count := tally{}
	for range times {
		report, err := perform(ctx, files, o, s)
		if err != nil {
			return err
		}
		if code, interrupted := interruption(ctx); interrupted {
			return exit{code: code}
		}
		count.add(report.Results[0], f.Finding.Kind)
	}
	return count.conclude(f, s)
}

// options fills in what the finding knows and the command line does not say.
func (f findingFile) options(o runOptions, dir string) runOptions {
	o.seed, o.only = f.Seed, f.Intents
	if o.operation == "" {
		o.operation = f.Operation
	}
	if o.toxiproxy == "" {
		o.toxiproxy = f.Toxiproxy
	}
	if o.target == "" {
		o.target = f.Target
		if copied := filepath.Join(dir, targetName); fileExists(copied) {
			o.target = copied
		}
	}
	return o
}

// tally counts the tries of a replay.
type tally struct{ reproduced, clean, unexercised int }

func (t *tally) add(r checker.Result, kind checker.Kind) {
	switch {
	case slices.ContainsFunc(r.Findings, func(f checker.Finding) bool { return f.Kind == kind }):
		t.reproduced++
	case r.Verdict == checker.Pass:
		t.clean++
	default:
		t.unexercised++
	}
}

func (t tally) conclude(f findingFile, s streams) error {
	all := t.reproduced + t.clean + t.unexercised
	switch {
	case t.reproduced > 0:
		fmt.Fprintf(s.out, "\nreproduced: %s in %d of %s\n", f.Finding.Kind, t.reproduced, plural(all, "try"))
		return exit{code: exitFinding}
	case t.clean == 0:
		fmt.Fprintf(s.out, "\ncould not be exercised in %s\n", plural(all, "try"))
		return exit{code: exitInconclusive}
	default:
		fmt.Fprintf(s.out, "\nnot reproduced: no %s in %d exercised of %s\n", f.Finding.Kind, t.clean, plural(all, "try"))
		return nil
	}
}

func readFinding(dir string) (findingFile, error) {
	var f findingFile
	path := filepath.Join(dir, findingName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, mistakef("%s is not the directory of a finding: it has no %s", dir, findingName)
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return f, mistake(fmt.Errorf("read %s: %w", path, err))
	}
	return f, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// missing reports that an error is about a file that is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
