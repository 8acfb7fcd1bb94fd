package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/explain"
)

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

func explainTarget(ctx context.Context, o targetFlags, s streams) (err error) {
	system, err := sut.Load(ctx, o.options(s))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	for _, operation := range explain.Operations(system.Target) {
		fmt.Fprint(s.out, operation)
	}
	return nil
}
