package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// completeScenarios offers a shell the names of the library, beside files.
func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	library, err := engine.FindScenarios(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, f := range library {
		names = append(names, cobra.CompletionWithDesc(f.Scenario.Name, f.Scenario.Summary))
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeTargets offers a shell the built-in targets, beside files.
func completeTargets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, d := range orders.Designs() {
		names = append(names, cobra.CompletionWithDesc(sut.BuiltinPrefix+d.Name, d.Summary))
	}
	return names, cobra.ShellCompDirectiveDefault
}

var findingName = regexp.MustCompile(`^F[0-9]+$`)

// mostOffered is how many findings a shell is offered.
const mostOffered = 40

// completeFinding offers a shell the findings of the latest run that has one, the first of each cause before the others, beside directories.
func completeFinding(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := []string{cobra.CompletionWithDesc(rundir.LastFinding, "the first finding of the latest run that has one")}
	runs := engine.DefaultReports
	if f := cmd.Flag("reports"); f != nil {
		runs = f.Value.String()
	}
	dir, err := rundir.FindFinding(rundir.LastFinding, runs)
	if err != nil {
		return names, cobra.ShellCompDirectiveDefault
	}
	report, err := rundir.Dir{Path: filepath.Dir(filepath.Dir(dir))}.ReadReport()
	if err != nil {
		return names, cobra.ShellCompDirectiveDefault
	}
	said := reports.CauseSentences(report)
	for i, c := range checker.Causes(report.Results) {
		for n, id := range c.Findings {
			if len(names) <= mostOffered && (n == 0 || i == 0) && findingName.MatchString(id) { // the report may be another's
				names = append(names, cobra.CompletionWithDesc(id, said[i]))
			}
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeRun offers a shell what a run can be called beside its directory.
func completeRun(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{cobra.CompletionWithDesc(rundir.LastRun, "the latest run that has a report")}, cobra.ShellCompDirectiveDefault
}

// completeOperation offers a shell the operations of the target that is named before.
func completeOperation(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	path := usualTarget
	if f := cmd.Flag("target"); f != nil && f.Value.String() != "" {
		path = f.Value.String()
	}
	names := []string{"all"}
	if text, err := files.Read(path, files.MostText); err == nil {
		target, _ := targets.Load(path, text, func(string) (string, bool) { return "", true })
		names = append(names, slices.Sorted(maps.Keys(target.Operations))...)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// offer has a shell offer the values of flags that take one of a few, or names.
func offer(root *cobra.Command) {
	fixed := map[string][]string{
		"as": {"curl", "go", "scenario"}, "fixed": {"fail", "warn"}, "inconclusive": {"fail", "warn"},
	}
	for _, cmd := range root.Commands() {
		offer(cmd)
		of := func(name string, complete cobra.CompletionFunc) {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, complete) // it fails only for a flag that is not there
			}
		}
		for name, values := range fixed {
			of(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
		of("skip", completeScenarios)
		if cmd.Name() != "init" {
			of("operation", completeOperation)
		}
	}
}
