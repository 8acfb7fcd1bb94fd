package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// newScenarios returns the commands that list and print the built-in scenarios.
func newScenarios(s streams) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the built-in scenarios", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, f := range scenarios.Library() {
				fmt.Fprintf(s.out, "%-28s %s\n", f.Scenario.Name, f.Scenario.Summary)
			}
			return nil
		},
	}
	show := &cobra.Command{
		Use: "show NAME", Short: "Print a built-in scenario, to start one's own from", Args: cobra.ExactArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			library := scenarios.Library()
			for _, f := range library {
				if f.Scenario.Name == args[0] {
					_, err := s.bytes.Write(f.Source)
					return err
				}
			}
			return runerror.Configf("no built-in scenario %q%s", args[0], engine.Nearest(args[0], library))
		},
	}
	return newGroup("scenarios", "The built-in scenarios", list, show)
}
