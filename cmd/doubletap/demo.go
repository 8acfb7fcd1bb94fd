package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// newDemo returns run with another default target. Everything else is run, so that what a reader
// learns here holds there.
func newDemo(s streams) *cobra.Command {
	o := runFlags{}
	cmd := &cobra.Command{
		Use:   "demo [SCENARIO|FILE|DIR ...]",
		Short: "Run scenarios against a built-in orders API, to see what doubletap does",
		Long: `Demo is run against a built-in orders API on a SQLite file, which does what it promises. With --target
it takes another of the built-in APIs; "doubletap targets" lists them, correct and broken. It plays no
more rounds of what races, unless --more-rounds says so.`,
		Example: `  doubletap demo
  doubletap demo --target builtin:check-then-insert`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.target == "" {
				o.target = demoTarget
			}
			o.more = true // it has none, where run has some
			return o.play(cmd, args, s)
		},
	}
	o.addTo(cmd)
	rounds := cmd.Flags().Lookup("more-rounds")
	rounds.Usage = strings.Replace(rounds.Usage, "20s for the whole library, else none", "none", 1)
	return cmd
}
