package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/scenarios/document"
)

// findScenarios resolves the arguments of run: names of built-in scenarios, files and folders. No
// argument is the whole library. All mistakes of all files come at once.
func findScenarios(args []string) ([]scenarios.File, error) {
	library, err := scenarios.LoadFS(scenarios.Builtin(), ".")
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return library, nil
	}
	var files []scenarios.File
	var errs []error
	taken := map[string]string{}
	for _, arg := range args {
		found, err := findScenario(arg, library)
		errs = append(errs, err)
		for _, f := range found {
			if first, twice := taken[f.Scenario.Name]; twice {
				errs = append(errs, fmt.Errorf("two scenarios are named %q: %s and %s", f.Scenario.Name, first, f.Path))
			}
			taken[f.Scenario.Name] = f.Path
			files = append(files, f)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, mistake(err)
	}
	return files, nil
}

func findScenario(arg string, library []scenarios.File) ([]scenarios.File, error) {
	for _, f := range library {
		if f.Scenario.Name == arg {
			return []scenarios.File{f}, nil
		}
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no scenario %q: neither a built-in one%s nor a file", arg, nearest(arg, library))
	case err != nil:
		return nil, fmt.Errorf("read scenario: %w", err)
	case info.IsDir():
		return loadFolder(arg)
	}
	source, err := os.ReadFile(arg)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	s, err := scenarios.Load(arg, source)
	if err != nil {
		return nil, err
	}
	return []scenarios.File{{Path: arg, Source: source, Scenario: s}}, checkFaults(arg, s)
}

func loadFolder(dir string) ([]scenarios.File, error) {
	files, err := scenarios.LoadFS(os.DirFS(dir), ".")
	if err != nil {
		return nil, fmt.Errorf("in %s:\n%w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no scenario in %s: it has no *.yaml file", dir)
	}
	for i := range files {
		files[i].Path = filepath.Join(dir, files[i].Path)
		err = errors.Join(err, checkFaults(files[i].Path, files[i].Scenario))
	}
	return files, err
}

// checkFaults asks the proxy whether it knows the faults: only it knows toxiproxy's toxics.
func checkFaults(path string, s scenarios.Scenario) error {
	var errs []error
	for name, faults := range s.Lanes {
		for i, f := range faults {
			if err := proxy.Check(f); err != nil {
				errs = append(errs, fmt.Errorf("%s: lanes.%s[%d]: %w", path, name, i, err))
			}
		}
	}
	return errors.Join(errs...)
}

func nearest(name string, library []scenarios.File) string {
	best, distance := "", len(name)/2+1
	for _, f := range library {
		if d := levenshtein.ComputeDistance(name, f.Scenario.Name); d < distance {
			best, distance = f.Scenario.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

func newScenarios(s streams) *cobra.Command {
	cmd := &cobra.Command{Use: "scenarios", Short: "The built-in scenarios"}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the built-in scenarios", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			library, err := scenarios.LoadFS(scenarios.Builtin(), ".")
			for _, f := range library {
				fmt.Fprintf(s.out, "%-28s %s\n", f.Scenario.Name, f.Scenario.Summary)
			}
			return err
		},
	}, &cobra.Command{
		Use: "show NAME", Short: "Print a built-in scenario, to start one's own from", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			library, err := scenarios.LoadFS(scenarios.Builtin(), ".")
			if err != nil {
				return err
			}
			for _, f := range library {
				if f.Scenario.Name == args[0] {
					_, err := s.out.Write(f.Source)
					return err
				}
			}
			return mistakef("no built-in scenario %q%s", args[0], nearest(args[0], library))
		},
	})
	return cmd
}

// mistakesIn counts the mistakes that an error holds.
func mistakesIn(err error) int {
	var list document.Mistakes
	if errors.As(err, &list) {
		return len(list)
	}
	return len(strings.Split(strings.TrimSpace(err.Error()), "\n"))
}
