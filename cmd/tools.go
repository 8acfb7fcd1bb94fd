package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/scenarios/document"
	"github.com/doubletap-harness/doubletap/targets"
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

// validate reads a file as what it looks like: one that has what only target files have is a target.
func validate(path string, s streams) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return describeMissing("file", path, err)
	}
	if looksLikeTarget(path, source) {
		_, err := targets.Load(path, source, s.getenv)
		return err
	}
	scenario, err := scenarios.Load(path, source)
	if err != nil {
		return err
	}
	return checkFaults(scenarios.File{Path: path, Source: source, Scenario: scenario})
}

// looksLikeTarget tells the two kinds of file apart by the keys that only one of them has.
func looksLikeTarget(path string, source []byte) bool {
	doc, _ := document.Parse(source, document.Options{File: path, Schema: []byte("{}")})
	return doc != nil && !doc.Has("/steps") && (doc.Has("/base_url") || doc.Has("/operations") || doc.Has("/contract"))
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
