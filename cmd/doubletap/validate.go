package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// newValidate returns the command that prints every mistake of some files. A mistake exits 3, like
// that of a run.
func newValidate(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE ...",
		Short: "Print every mistake in scenario and target files and registers of known bugs, with file, line and column",
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
				return exit{code: exitConfig}
			}
			return nil
		},
	}
}

// validate reads a file as what it looks like: one that has what only another kind of file has is no
// scenario.
func validate(path string, s streams) error {
	source, err := files.Read(path, files.MostText)
	if err != nil {
		return runerror.Unreadable("file", path, err)
	}
	switch {
	case looksLike(path, source, "/base_url", "/operations", "/contract"):
		target, err := targets.Load(path, source, s.getenv)
		if err == nil {
			for _, w := range targets.Warnings(path, source, target) {
				fmt.Fprintf(s.out, "warning: %s\n", w)
			}
		}
		return err
	case !looksLike(path, source, "/name", "/summary", "/exercised") && looksLike(path, source, "/known"):
		_, err := scenarios.LoadRegister(path, source)
		return err
	}
	scenario, err := scenarios.Load(path, source)
	if err != nil {
		return err
	}
	return engine.CheckFaults(scenarios.File{Path: path, Source: source, Scenario: scenario})
}

// looksLike reports that a file has one of some keys, and no steps, which only scenarios have.
func looksLike(path string, source []byte, keys ...string) bool {
	doc, _ := document.Parse(source, document.Options{File: path, Schema: []byte("{}")})
	return doc != nil && !doc.Has("/steps") && slices.ContainsFunc(keys, doc.Has)
}

// newSchema returns the command that prints the schema of a file format.
func newSchema(s streams) *cobra.Command {
	markdown := false
	cmd := &cobra.Command{
		Use:       "schema scenario|target|known",
		Short:     "Print the JSON Schema of a file format, for editors, or every key of it in a table",
		ValidArgs: []string{"scenario", "target", "known"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			schema := map[string]func() []byte{
				"scenario": scenarios.Schema, "target": targets.Schema, "known": scenarios.KnownSchema,
			}[args[0]]
			if markdown {
				return document.Reference(s.bytes, schema())
			}
			_, err := s.bytes.Write(append(bytes.TrimSpace(schema()), '\n'))
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a table of the keys instead")
	return cmd
}
