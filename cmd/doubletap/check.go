package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
)

func newCheck(s streams) *cobra.Command {
	g := gate{}
	cmd := &cobra.Command{
		Use:   "check RUN",
		Short: "Judge a recorded run again",
		Long: `Check reads the histories of a run's directory and judges them again, without the target and
without the database. A run that was killed is judged by what it left. The exit codes are those of
run.`,
		Example: "  doubletap check reports/runs/20260102-150405-abcd",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkCommand(cmd.Context(), rundir.Dir{Path: args[0]}, g, s)
		},
	}
	g.flags(cmd)
	return cmd
}

func checkCommand(ctx context.Context, dir rundir.Dir, g gate, s streams) error {
	m, err := dir.ReadManifest()
	if err := errors.Join(g.check(), err); err != nil {
		return err
	}
	report := dir.Report(m)
	err = reports.Text(s.out, *report, styleOf(s))
	if err != nil {
		err = runerror.Environment(err)
	}
	return conclude(ctx, report, err, g, s)
}
