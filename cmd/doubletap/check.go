package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
)

// newCheck returns the command that judges a recorded run again.
func newCheck(s streams) *cobra.Command {
	g, runs := gate{}, ""
	cmd := &cobra.Command{
		Use:   "check RUN",
		Short: "Judge a recorded run again",
		Long: `Check reads the histories of a run's directory and judges them again, without the target and
without the database. A run that was killed is judged by what it left. The exit codes are those of
run. "last" is the latest run that has a report.`,
		Example: `  doubletap check reports/runs/20260102-150405-abcd
  doubletap check last`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := rundir.FindRun(args[0], runs)
			if err != nil {
				return err
			}
			return checkCommand(cmd.Context(), dir, g, s)
		},
	}
	g.flags(cmd)
	runsFlag(cmd, &runs)
	return cmd
}

// judging shows how far the judging of a long history is: a bar on a terminal, elsewhere a line now and then.
type judging struct {
	mu       sync.Mutex
	out      io.Writer
	bar      *progress
	scenario string
}

// tell shows how far a scenario is.
func (j *judging) tell(scenario string, hundredths int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.scenario != scenario {
		j.bar.done()
		before := j.bar
		if j.scenario, j.bar = scenario, newProgress(j.out, "judging "+scenario); before != nil {
			j.bar.said = before.said
		}
	}
	j.bar.update(hundredths, 100)
	j.bar.tellAtTimes(fmt.Sprintf("%d %%", hundredths))
}

// done takes the bar of the last scenario away.
func (j *judging) done() { j.bar.done() }

// collectFrom is how much memory may be in use, in bytes, before it is collected as often as that takes.
const collectFrom = 900 << 20

// judge has histories judged, prints the report, and writes what else there is to be written of it. Nil: there is none.
func judge(s streams, judged func(rundir.Told) (*checker.Report, error), write func(checker.Report) error) (*checker.Report, error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(collectFrom))
	p := &judging{out: s.err}
	report, err := judged(p.tell)
	p.done()
	if report == nil {
		return nil, err
	}
	err = errors.Join(err, write(*report))
	if said := reports.Text(s.out, *report, styleOf(s)); said != nil {
		err = errors.Join(err, runerror.Environment(said))
	}
	return report, err
}

// checkCommand judges a run's directory again. It writes nothing there: the report of the run
// stays what the run said.
func checkCommand(ctx context.Context, dir rundir.Dir, g gate, s streams) error {
	if err := g.check(); err != nil {
		return err
	}
	report, err := judge(s, func(told rundir.Told) (*checker.Report, error) {
		report, _, err := dir.Rejudge(told)
		return report, err
	}, func(checker.Report) error { return nil })
	return conclude(ctx, report, err, g, s)
}
