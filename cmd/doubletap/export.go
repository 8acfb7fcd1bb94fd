package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/export"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/shrink"
	"github.com/doubletap-harness/doubletap/sut"
)

// newExport returns the command that exports a finding.
func newExport(s streams) *cobra.Command {
	o, as, output, runs, force := targetFlags{}, "", "", "", false
	cmd := &cobra.Command{
		Use:   "export FINDING",
		Short: "Export a finding: as a shell script, a Go test or a scenario file",
		Long: `Export takes a finding and writes what shows it again, in one file that another person
can run: a shell script that takes bash and curl (curl), a Go test (go), or a scenario file
(scenario). If shrink has left a smaller scenario beside the finding, it is that one. What stands in
environment variables, and what is secret, stays in environment variables.`,
		Example: `  doubletap export last --as go
  doubletap export reports/runs/20260102-150405-abcd/findings/F1 --as curl -o again.sh
  doubletap export reports/runs/20260102-150405-abcd/findings/F1 --as go -o again_test.go`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeFinding,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := rundir.FindFinding(args[0], runs)
			if err != nil {
				return err
			}
			return exportCommand(cmd.Context(), dir, as, files.Output{Path: output, Mark: export.Mark, Force: force}, o, s)
		},
	}
	o.add(cmd)
	cmd.Flags().StringVar(&as, "as", "curl", "curl, go or scenario")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	runsFlag(cmd, &runs)
	return cmd
}

// trusted refuses to export a target file of another author into something that obeys it as soon
// as it is run. A scenario is data, and may be exported from any finding.
func trusted(ctx context.Context, f export.Finding, as string) error {
	if !f.SUT.HandedOver || as == "scenario" {
		return nil
	}
	system, err := sut.Open(ctx, f.SUT, []scenarios.File{{Scenario: f.Scenario}})
	if err != nil {
		return err
	}
	return errors.Join(system.Trusted(), system.Close())
}

// exportCommand writes a finding in one of the forms. What the form cannot show is said on the
// stream for people, and the file is written all the same: the reader may know better. The output
// is checked first, as asking the database can take a while.
func exportCommand(ctx context.Context, dir, as string, output files.Output, o targetFlags, s streams) error {
	if output.Path != "" {
		if err := output.Check(); err != nil {
			return runerror.Configf("--output: %w", err)
		}
	}
	f, err := readForExport(ctx, dir, o, s)
	if err != nil {
		return err
	}
	if err := trusted(ctx, f, as); err != nil {
		return err
	}
	var text []byte
	switch as {
	case "scenario":
		text, err = f.AsScenario()
	case "go":
		if why := f.GoCannot(); why != "" {
			fmt.Fprintf(s.err, "it cannot show it: %s\n", why)
		}
		f.SUT.Target = seenFrom(output.Path, f.SUT.Target)
		text, err = f.AsGo()
	case "curl":
		var cannot []string
		if text, cannot, err = f.AsCurl(ctx); len(cannot) > 0 {
			surely := map[bool]string{true: "cannot", false: "may not"}[f.Shrunk]
			fmt.Fprintf(s.err, "it %s show it: a script is without %s; %s that\n", surely, english.List(cannot, "and"), f.BesideCurl())
		}
	default:
		return runerror.Configf("--as is %q, expected curl, go or scenario", as)
	}
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { _, err := w.Write(text); return err }
	if output.Path == "" {
		err = write(s.bytes)
	} else {
		err = output.Write(write)
	}
	if err != nil {
		return runerror.Environment(fmt.Errorf("write the export: %w", err))
	}
	return nil
}

// seenFrom is the path of a target file as a Go test in another folder has to name it: a test runs where it stands. A built-in
// target, and one of a test that is printed, stay as they are.
func seenFrom(test, target string) string {
	if test == "" || filepath.IsAbs(target) || !rundir.Exists(target) {
		return target
	}
	folder, err := filepath.Abs(filepath.Dir(test))
	if err != nil {
		return target
	}
	file, err := filepath.Abs(target)
	if err != nil {
		return target
	}
	if way, err := filepath.Rel(folder, file); err == nil {
		return filepath.ToSlash(way)
	}
	return file
}

// readForExport reads a finding, and the smallest scenario that is known of it: what shrink has
// left beside it, else the intents that broke, as often as their rate asks for.
func readForExport(ctx context.Context, dir string, o targetFlags, s streams) (export.Finding, error) {
	f, played, err := engine.OpenFinding(dir)
	if err != nil {
		return export.Finding{}, err
	}
	minimal, seen := false, ""
	small := f.Narrowed(played[0].Scenario)
	if f.Of > 0 {
		small.Intents *= rundir.Rounds(f.Shown, f.Of)
		seen = fmt.Sprintf("It was seen in %d of %s of one run; in others it may be rarer.", f.Shown, english.Plural(f.Of, "intent"))
	}
	if shrunk := filepath.Join(dir, shrink.FileName); rundir.Exists(shrunk) {
		if played, err = engine.ReadScenario(shrunk); err != nil {
			return export.Finding{}, err
		}
		small, minimal, seen = played[0].Scenario, true, ""
		if first, _, _ := strings.Cut(string(played[0].Source), "\n"); strings.HasPrefix(first, shrunkMark) {
			seen = strings.TrimPrefix(first, "# ")
		}
	}
	c := engine.Config{SUT: o.options(s)}.Resend(f, dir)
	if c.SUT.Operation, err = resentOperation(ctx, c.SUT); err != nil {
		return export.Finding{}, err
	}
	flags := sessionFlags{targetFlags: targetFlags{target: c.SUT.Target, operation: c.SUT.Operation}, instances: c.SUT.Instances}
	words := strings.Join(slices.Concat([]string{flags.targetWords()}, o.placeFlags(), flags.operationFlag()), " ")
	return export.Finding{Finding: f, Scenario: small, SUT: c.SUT, Flags: words, Shrunk: minimal, Seen: seen}, nil
}
