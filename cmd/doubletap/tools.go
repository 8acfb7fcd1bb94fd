package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

func newValidate(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE ...",
		Short: "Say every mistake in scenario and target files, with file, line and column",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var errs []error
			for _, path := range args {
				err := validate(path, s)
				if err == nil {
					fmt.Fprintf(s.out, "%s: ok\n", path)
				}
				errs = append(errs, err)
			}
			if err := errors.Join(errs...); err != nil {
				fmt.Fprintln(s.err, err)
				return exit{code: exitMistake}
			}
			return nil
		},
	}
}

// validate reads a file as what it looks like: a file with steps is a scenario.
func validate(path string, s streams) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return describeMissing("file", path, err)
	}
	var shape map[string]yaml.Node
	yaml.Unmarshal(source, &shape)
	if _, hasSteps := shape["steps"]; !hasSteps {
		if _, hasTarget := shape["base_url"]; hasTarget || shape["operations"].Kind != 0 {
			_, err := targets.Load(path, source, s.getenv)
			return err
		}
	}
	scenario, err := scenarios.Load(path, source)
	if err != nil {
		return err
	}
	return checkFaults(path, scenario)
}

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:       "schema scenario|target",
		Short:     "Print the JSON Schema of a file format, for editors",
		ValidArgs: []string{"scenario", "target"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			schema := scenarios.Schema()
			if args[0] == "target" {
				schema = targets.Schema()
			}
			_, err := s.out.Write(append(bytes.TrimSpace(schema), '\n'))
			return err
		},
	}
}

func newTargets(s streams) *cobra.Command {
	cmd := &cobra.Command{Use: "targets", Short: "The built-in target APIs, correct and broken, to try things on"}
	cmd.AddCommand(newTargetsList(s), newTargetsServe(s))
	return cmd
}

func newTargetsList(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the built-in targets", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, d := range orders.Designs() {
				kind := "broken"
				if d.Correct {
					kind = "correct"
				}
				fmt.Fprintf(s.out, "%-8s %s%-22s %s\n", kind, builtinPrefix, d.Name, d.Summary)
			}
			return nil
		},
	}
}

func newTargetsServe(s streams) *cobra.Command {
	o := orders.Options{}
	cmd := &cobra.Command{
		Use:   "serve NAME",
		Short: "Serve a built-in target until interrupted",
		Example: `  doubletap targets serve check-then-insert --listen 127.0.0.1:8080
  doubletap targets serve unique-key --database postgres://me@localhost/test`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Design = args[0]
			return serve(cmd.Context(), o, s)
		},
	}
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:8080", "address to listen on")
	cmd.Flags().StringVar(&o.Database, "database", "", "postgres or mariadb URL (default: a SQLite file)")
	cmd.Flags().DurationVar(&o.Work, "work", 0, "what a create takes besides the database (default 20ms)")
	return cmd
}

func serve(ctx context.Context, o orders.Options, s streams) error {
	server, err := orders.Start(ctx, o)
	if err != nil {
		return blame(o.Design, err)
	}
	fmt.Fprintf(s.out, "%s listens at %s\nits rows are in %s\n", o.Design, server.URL(), server.DatabaseURL())
	<-ctx.Done()
	return server.Close()
}
