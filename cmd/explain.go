package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/targets/explain"
)

func newExplain(s streams) *cobra.Command {
	target := defaultTarget
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say in plain sentences what will be held against a target, and what will not",
		Example: `  doubletap explain --target orders.yaml
  doubletap explain --target builtin:natural-key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return explainTarget(cmd.Context(), target, s) },
	}
	cmd.Flags().Var((*targetFlag)(&target), "target", "target file, or builtin:NAME")
	return cmd
}

func explainTarget(ctx context.Context, name string, s streams) (err error) {
	sub, err := loadSubject(ctx, runOptions{target: name}, false, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	for _, operation := range explain.Operations(sub.target) {
		fmt.Fprint(s.out, operation)
	}
	return nil
}
