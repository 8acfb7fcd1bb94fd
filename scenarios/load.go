package scenarios

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/faults"
)

//go:embed scenario.schema.json
var schema []byte

// Schema returns the JSON Schema of scenario files.
func Schema() []byte { return bytes.Clone(schema) }

// File is a scenario with the text that it was read from.
type File struct {
	Path     string
	Source   []byte
	Scenario Scenario
}

// What a scenario file may leave out.
const (
	usualIntents     = 10
	usualConcurrency = 4
	usualShare       = 0.5
	usualTimeout     = 10 * time.Second
	usualWithin      = 5 * time.Second
	usualSweep       = 1.2 // of the time that a plain create takes
	usualCut         = faults.Duration(50 * time.Millisecond)
)

// Load reads a scenario file and fills in what it leaves out. The error is document.Mistakes: all of
// them, with their places.
func Load(file string, data []byte) (Scenario, error) {
	_, s, err := load(file, data, schema)
	if err != nil {
		return Scenario{}, err
	}
	return s, nil
}

// LoadFS reads every *.yaml file of a folder, in the order of their names. Two scenarios may not
// have one name, as a run has a directory for each name. The error is document.Mistakes where
// files have mistakes: those of all files.
func LoadFS(fsys fs.FS, dir string) ([]File, error) { return loadFS(fsys, dir, schema) }

// loadFS holds each file against a schema, where there is one.
func loadFS(fsys fs.FS, dir string, schema []byte) ([]File, error) {
	paths, err := fs.Glob(fsys, path.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list the scenarios in %s: %w", dir, err)
	}
	slices.Sort(paths)
	var files []File
	var mistakes document.Mistakes
	takenBy := map[string]string{}
	for _, file := range paths {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("read a scenario: %w", err)
		}
		doc, s, err := load(file, data, schema)
		if err != nil && !collect(&mistakes, err) {
			return nil, err
		}
		if first, taken := takenBy[s.Name]; taken && doc != nil && s.Name != "" {
			mistakes = append(mistakes, doc.Mistake("/name", "the name %q is taken by %s", s.Name, first))
		}
		takenBy[s.Name] = file
		files = append(files, File{Path: file, Source: data, Scenario: s})
	}
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// collect adds the mistakes that an error holds, and reports whether it holds any.
func collect(mistakes *document.Mistakes, err error) bool {
	var found document.Mistakes
	if !errors.As(err, &found) {
		return false
	}
	*mistakes = append(*mistakes, found...)
	return true
}

// load reads one file. It returns the document and what could be decoded also where there are
// mistakes, so that the caller can look for more of them in it.
func load(file string, data, schema []byte) (*document.Document, Scenario, error) {
	var s Scenario
	doc, err := document.Parse(data, document.Options{File: file, Schema: schema})
	if doc == nil {
		return nil, s, err
	}
	var mistakes document.Mistakes
	collect(&mistakes, err)
	// What could be read is validated even if something could not. Where the schema has found a mistake
	// already, the decoder adds nothing.
	if unfit := doc.Decode(&s); unfit != nil && err == nil {
		return doc, s, unfit
	}
	s.complete()
	mistakes = append(mistakes, validate(doc, s)...)
	return doc, s, mistakes.Err()
}

// LinksInUse returns the names of the links inside the target that the scenario slows down or cuts, sorted.
func (s Scenario) LinksInUse() []string {
	names := slices.Collect(maps.Keys(s.Links))
	for _, step := range s.Steps {
		for _, cut := range step.cuts() {
			names = append(names, cut.Link)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TouchesStore reports whether the scenario has faults of the target's store: of the link to it, or in it.
func (s Scenario) TouchesStore() bool {
	return slices.Contains(s.LinksInUse(), TheStore) || slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Flush != "" })
}

// complete fills in what the file leaves out.
func (s *Scenario) complete() {
	if s.Intents == 0 {
		s.Intents = usualIntents
	}
	if s.Concurrency == 0 {
		s.Concurrency = usualConcurrency
	}
	for i := range s.Steps {
		s.Steps[i].complete()
	}
	if s.Background != nil {
		s.Background.complete()
	}
	for i := range s.Exercised {
		if s.Exercised[i].AtLeast == 0 {
			s.Exercised[i].AtLeast = usualShare
		}
	}
	for _, need := range s.implied() {
		if !slices.Contains(s.Needs, need) {
			s.Needs = append(s.Needs, need)
		}
	}
}
