package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func newCheck(s streams) *cobra.Command {
	inconclusive := "fail"
	cmd := &cobra.Command{
		Use:   "check RUN",
		Short: "Judge a recorded run again",
		Long: `Check reads the histories of a run's directory and judges them again, without the target and
without the database. The exit codes are those of run.`,
		Example: "  doubletap check reports/runs/20260102-150405-abcd",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkCommand(cmd.Context(), runDir{args[0]}, inconclusive, s)
		},
	}
	cmd.Flags().StringVar(&inconclusive, "inconclusive", inconclusive, "what an inconclusive verdict means to a gate: fail (exit 2) or warn (exit 0)")
	return cmd
}

func checkCommand(ctx context.Context, dir runDir, inconclusive string, s streams) error {
	m, err := dir.readManifest()
	if err != nil {
		return err
	}
	results, err := judgeAgain(dir, m)
	if err != nil {
		return err
	}
	numberFindings(results)
	report := &checker.Report{
		Version: 1, Run: m.Run, Tool: m.Tool, Target: m.Subject, Seed: m.Seed, Started: stamp(m.Started),
		Dir: dir.path, Replay: m.Replay, Again: m.Again, Verdict: overall(results), Results: results,
	}
	if err := reports.Text(s.out, *report, styleOf(s)); err != nil {
		return surroundings(err)
	}
	return verdictExit(ctx, report, inconclusive)
}

// judgeAgain judges every history of a run. A scenario that was never begun, because the run was
// stopped before it, is inconclusive.
func judgeAgain(dir runDir, m manifest) ([]checker.Result, error) {
	var results []checker.Result
	for _, name := range m.Scenarios {
		h, err := dir.readHistory(name)
		if missing(err) {
			results = append(results, checker.Result{Scenario: name, Seed: m.Seed, Reasons: []string{"it was not run"}})
			continue
		}
		if err != nil {
			return nil, err
		}
		results = append(results, checker.Check(h, m.Terms))
	}
	for _, skip := range m.Skipped {
		results = append(results, checker.Result{
			Scenario: skip.Scenario, Summary: skip.Summary, Seed: m.Seed, Verdict: checker.NotApplicable, Reasons: []string{skip.Why},
		})
	}
	if len(results) == 0 {
		return nil, mistake(fmt.Errorf("%s holds no scenario", dir.path))
	}
	return results, nil
}
