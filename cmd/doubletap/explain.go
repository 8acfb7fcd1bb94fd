package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/explain"
)

// newExplain returns the command that says what a target is checked against.
func newExplain(s streams) *cobra.Command {
	o := targetFlags{}
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say in plain sentences what a target is checked against, and what not",
		Example: `  doubletap explain --target orders.yaml
  doubletap explain --target builtin:natural-key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.find(); err != nil {
				return err
			}
			return explainTarget(cmd.Context(), o, s)
		},
	}
	o.add(cmd)
	return cmd
}

// explainTarget loads the target and starts nothing, so that it can be asked about a target that
// is not there.
func explainTarget(ctx context.Context, o targetFlags, s streams) (err error) {
	system, err := sut.Load(ctx, o.options(s))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	if _, err := system.Asked(); err != nil && o.operation != everyOperation {
		return err
	}
	for _, e := range explain.Operations(system.Target) {
		if only := o.operation; only == "" || only == everyOperation || only == e.Operation {
			fmt.Fprint(s.out, e)
		}
	}
	return nil
}
