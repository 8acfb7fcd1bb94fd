package main

import (
	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/sut"
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

// completeFinding offers a shell what a finding can be called beside its directory.
func completeFinding(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{cobra.CompletionWithDesc("last", "the first finding of the latest run that has one")}, cobra.ShellCompDirectiveDefault
}
