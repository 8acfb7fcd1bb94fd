package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/rundir"
)

// newMerge returns the command that judges shards as one run.
func newMerge(s streams) *cobra.Command {
	g, into := gate{}, ""
	cmd := &cobra.Command{
		Use:   "merge RUN ...",
		Short: "Judge the shards of a run as one",
		Long: `Merge reads the histories of runs that were begun with --shard, one directory for each shard, and judges
them as one run: one verdict, one report, and findings that can be sent again. It needs neither the target
nor the database. Where a shard is missing, the run is inconclusive, unless something broke. The exit codes
are those of run. The merged run has a directory of its own, which names those of the shards: check and diff
judge it again as long as they are there.`,
		Example: `  doubletap run --target orders.yaml --seed 7 --confidence 1% --shard 1/3 --reports shards
  doubletap merge shards/*`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return mergeCommand(cmd.Context(), args, into, g, s)
		},
	}
	g.flags(cmd)
	cmd.Flags().StringVar(&into, "reports", engine.DefaultReports, "directory for the merged run")
	return cmd
}

// mergeCommand judges shards as one run, in a directory of its own. The shards stay where they
// are, and are only read.
func mergeCommand(ctx context.Context, args []string, into string, g gate, s streams) error {
	merged, err := rundir.Merge(inDirs(args))
	if err := errors.Join(g.check(), err); err != nil {
		return err
	}
	dir, err := rundir.Create(into, rundir.NewID(time.Now()))
	if err != nil {
		return err
	}
	report, err := judgeMerged(merged, dir, s)
	return conclude(ctx, report, err, g, s)
}

// inDirs returns the directories of runs. A pattern such as shards/* also names the link to the latest of them.
func inDirs(paths []string) []rundir.Dir {
	var dirs []rundir.Dir
	for _, path := range paths {
		if len(paths) == 1 || filepath.Base(path) != rundir.LatestName {
			dirs = append(dirs, rundir.Dir{Path: path})
		}
	}
	return dirs
}

// judgeMerged judges shards as one, shows the report, and writes it into the directory of the whole, which knows its shards first.
func judgeMerged(merged *rundir.Merged, dir rundir.Dir, s streams) (*checker.Report, error) {
	unwritten := dir.WriteJSON(merged.Manifest(dir), rundir.ManifestName)
	report, err := judge(s, func(told rundir.Told) (*checker.Report, error) { return merged.Report(dir, told), nil }, func(report checker.Report) error {
		s.github.report(report, nil, false)
		return errors.Join(dir.WriteReports(report, nil), merged.WriteFindings(dir, report))
	})
	if err = errors.Join(unwritten, err); err == nil {
		engine.MarkLatest(dir)
	}
	return report, err
}
