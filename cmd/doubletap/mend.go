package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
)

// newMend returns the command that says how a likely cause is mended.
func newMend(s streams) *cobra.Command {
	var stack string
	cmd := &cobra.Command{
		Use:   "mend [CAUSE]",
		Short: "Say how a likely cause is mended, in SQL and in the code of common stacks",
		Long: `Mend says what the code of a target does that has one of the likely causes of a report, where to look for it, which
scenarios show it, and how it is mended. Without a cause it lists all of them.

Exit codes: 0; 3 there is no such cause or stack.`,
		Example: `  doubletap mend
  doubletap mend check-then-act
  doubletap mend check-then-act --for rails`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeDefect,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listDefects(s)
			}
			return mend(args[0], stack, s)
		},
	}
	cmd.Flags().StringVar(&stack, "for", "", "one database or stack, such as postgres or rails (default: all)")
	return cmd
}

// listDefects writes a line for each likely cause.
func listDefects(s streams) error {
	for _, d := range diagnosis.Defects() {
		first, _, _ := strings.Cut(d.Does, ". ")
		fmt.Fprintf(s.out, "%-22s %s.\n", d.Name, strings.TrimSuffix(first, "."))
	}
	return nil
}

// mend writes the page of a likely cause.
func mend(name, stack string, s streams) error {
	d, found := diagnosis.Named(name)
	if !found {
		var names []string
		for _, d := range diagnosis.Defects() {
			names = append(names, d.Name)
		}
		return runerror.Configf("there is no cause %q, expected one of: %s", name, strings.Join(names, ", "))
	}
	page, _ := d.Page()
	sections := page.Sections
	if stack != "" {
		one, found := page.For(stack)
		if !found {
			var stacks []string
			for _, s := range page.Sections {
				stacks = append(stacks, s.Stack)
			}
			if len(stacks) == 0 {
				return runerror.Configf("--for %s: there is no code for %s", stack, name)
			}
			return runerror.Configf("--for %s: there is no code for it, expected one of: %s", stack, strings.Join(stacks, ", "))
		}
		sections = []diagnosis.Section{one}
	}
	return runerror.Environment(reports.Mend(s.out, d, sections, styleOf(s)))
}

// completeDefect offers a shell the names of the likely causes.
func completeDefect(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, d := range diagnosis.Defects() {
			names = append(names, d.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
