package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newRoot returns the command tree.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "doubletap",
		Short: "Find out whether your API creates things exactly once",
		Long: `doubletap sends the same wish to an API more than once, the way real clients and networks do:
retries, lost answers, double clicks, several tabs, reused keys. Then it asks the database what
really happened and gives a verdict.

Exit codes: 0 every verdict is a pass; 1 at least one finding; 2 inconclusive: nothing broke, but
something was not exercised; 3 a mistake in the command line or a file; 4 the target, the database
or doubletap itself failed; 130 and 143 interrupted.`,
		Example: `  doubletap run
  doubletap run --target builtin:check-then-insert
  doubletap run --target orders.yaml burst-same-key`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.AddCommand(
		newRun(s), newCheck(s), newReplay(s), newValidate(s), newTargets(s), newScenarios(s), newSchema(s),
	)
	return root
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
