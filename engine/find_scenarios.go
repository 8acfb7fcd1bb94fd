package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// FindScenarios resolves the arguments of run: names of built-in scenarios and patterns of them, files and folders. No
// argument is the whole library. Those whose name is skipped, or fits a pattern that is, are left out. All mistakes of all
// files come at once.
func FindScenarios(args []string, skip ...string) ([]scenarios.File, error) {
	library := scenarios.Library()
	files := library
	var errs []error
	if len(args) > 0 {
		files = nil
	}
	for _, arg := range args {
		found, err := findScenario(arg, library)
		errs = append(errs, err)
		files = append(files, found...)
	}
	errs = append(errs, clashes(files))
	for _, name := range skip {
		left := slices.DeleteFunc(slices.Clone(files), func(f scenarios.File) bool { return fits(name, f.Scenario.Name) })
		if len(left) == len(files) && len(matching(name, library)) == 0 {
			errs = append(errs, fmt.Errorf("no scenario %q to skip%s", name, Nearest(name, library)))
		}
		files = left
	}
	if err := errors.Join(errs...); err != nil {
		return nil, runerror.Config(err)
	}
	if len(files) == 0 {
		return nil, runerror.Configf("all scenarios are skipped")
	}
	return files, nil
}

// BuiltInScenario reports that a scenario of the library has this name.
func BuiltInScenario(name string) bool { return builtIn()[name] }

var builtIn = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, f := range scenarios.Library() {
		names[f.Scenario.Name] = true
	}
	return names
})

// fits reports that a name is this one, or fits this pattern.
func fits(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return pattern == name || err == nil && matched
}

// matching are the files of scenarios whose name fits a pattern.
func matching(pattern string, files []scenarios.File) []scenarios.File {
	return slices.DeleteFunc(slices.Clone(files), func(f scenarios.File) bool { return !fits(pattern, f.Scenario.Name) })
}

// clashes says which names cannot stand side by side in a run's directory.
func clashes(files []scenarios.File) error {
	var errs []error
	taken := map[string]string{}
	for _, f := range files {
		name := f.Scenario.Name
		if first, twice := taken[name]; twice {
			errs = append(errs, fmt.Errorf("two scenarios are named %q: %s and %s", name, first, f.Path))
		}
		if rundir.Reserved(name) {
			errs = append(errs, fmt.Errorf("%s: a scenario cannot be named %q, which doubletap needs for itself", f.Path, name))
		}
		taken[name] = f.Path
	}
	return errors.Join(errs...)
}

// findScenario resolves one argument. Names of the library go first, so that a folder of
// the same name does not change what a command means.
func findScenario(arg string, library []scenarios.File) ([]scenarios.File, error) {
	if found := matching(arg, library); len(found) > 0 {
		return found, nil
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no scenario %q: neither a built-in one%s nor a file", arg, Nearest(arg, library))
	case err != nil:
		return nil, fmt.Errorf("read scenario: %w", err)
	case info.IsDir():
		return loadFolder(arg)
	}
	source, err := files.Read(arg, files.MostText)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	s, err := scenarios.Load(arg, source)
	if err != nil {
		return nil, err
	}
	f := scenarios.File{Path: arg, Source: source, Scenario: s}
	return []scenarios.File{f}, CheckFaults(f)
}

// loadFolder loads all *.yaml files of a folder. Mistakes name their files as seen from
// here.
func loadFolder(dir string) ([]scenarios.File, error) {
	files, err := scenarios.LoadFS(files.Folder(dir), ".")
	var found document.Mistakes
	if errors.As(err, &found) {
		for i := range found {
			found[i].File = filepath.Join(dir, found[i].File)
		}
		return nil, found
	}
	if err != nil {
		return nil, fmt.Errorf("in %s: %w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no scenario in %s: it has no *.yaml file", dir)
	}
	var errs []error
	for i := range files {
		files[i].Path = filepath.Join(dir, files[i].Path)
		errs = append(errs, CheckFaults(files[i]))
	}
	return files, errors.Join(errs...)
}

// CheckFaults asks the proxy whether it knows the faults: only it knows toxiproxy's
// toxics, and scenarios may not import it. Mistakes have the line of the fault in the
// file.
func CheckFaults(f scenarios.File) error {
	doc, err := document.Parse(f.Source, document.Options{File: f.Path, Schema: scenarios.Schema()})
	if err != nil {
		return err
	}
	var found document.Mistakes
	for key, roads := range map[string]map[string][]faults.Fault{"lanes": f.Scenario.Lanes, "links": f.Scenario.Links} {
		for name, faults := range roads {
			for i, fault := range faults {
				if err := proxy.Check(fault); err != nil {
					found = append(found, doc.Mistake(jsonpointer.Of(key, name, i), "%v", err))
				}
			}
		}
	}
	return found.Err()
}

// Nearest suggests the built-in scenario that was probably meant.
func Nearest(name string, library []scenarios.File) string {
	var names []string
	for _, f := range library {
		names = append(names, f.Scenario.Name)
	}
	if best, found := document.Nearest(name, names); found {
		return fmt.Sprintf(" (did you mean %q?)", best)
	}
	return ""
}
