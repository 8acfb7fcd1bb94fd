package scenarios

import (
	"bytes"
	_ "embed"
	"slices"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

//go:embed known.schema.json
var knownSchema []byte

// KnownSchema returns the JSON Schema of registers of known bugs.
func KnownSchema() []byte { return bytes.Clone(knownSchema) }

// KnownBug is a bug that a scenario shows and that cannot be mended today.
type KnownBug struct {
	Expect string `yaml:"expect"`           // kind of its findings
	Detail string `yaml:"detail,omitempty"` // of its findings; empty: any
	Link   string `yaml:"link"`             // where it is told
}

// Register is the known bugs of built-in scenarios, by their names. A scenario of one's own has them in
// its file.
type Register map[string][]KnownBug

// registered is a line of a register.
type registered struct {
	Scenario string `yaml:"scenario"`
	KnownBug `yaml:",inline"`
}

// LoadRegister reads a register of known bugs. The error is document.Mistakes where the file is to blame.
func LoadRegister(file string, data []byte) (Register, error) {
	doc, err := document.Parse(data, document.Options{File: file, Schema: knownSchema})
	if doc == nil {
		return nil, err
	}
	var mistakes document.Mistakes
	collect(&mistakes, err)
	var content struct {
		Known []registered `yaml:"known"`
	}
	if unfit := doc.Decode(&content); unfit != nil && err == nil {
		return nil, unfit
	}
	library, err := LoadFS(Builtin(), ".")
	if err != nil {
		return nil, err
	}
	mistakes = append(mistakes, strangers(doc, content.Known, library)...)
	mistakes = append(mistakes, repeated(doc, content.Known)...)
	register := Register{}
	for _, line := range content.Known {
		register[line.Scenario] = append(register[line.Scenario], line.KnownBug)
	}
	return register, mistakes.Err()
}

// strangers complains of lines about scenarios that there are not.
func strangers(doc *document.Document, lines []registered, library []File) document.Mistakes {
	var names []string
	for _, f := range library {
		names = append(names, f.Scenario.Name)
	}
	var mistakes document.Mistakes
	for i, line := range lines {
		path := jsonpointer.Of("known", i, "scenario")
		if doc.Length("/known") != len(lines) || !doc.Sound(path) || slices.Contains(names, line.Scenario) {
			continue
		}
		hint := document.DidYouMean(line.Scenario, names)
		if hint == "" {
			hint = "; the file of a scenario of one's own has a key known itself"
		}
		mistakes = append(mistakes, doc.Mistake(path, "there is no built-in scenario %q%s", line.Scenario, hint))
	}
	return mistakes
}

// repeated complains of lines that say again what one before them says.
func repeated(doc *document.Document, lines []registered) document.Mistakes {
	var mistakes document.Mistakes
	for i, line := range lines {
		path := jsonpointer.Of("known", i)
		same := func(other registered) bool {
			return other.Scenario == line.Scenario && other.Expect == line.Expect && other.Detail == line.Detail
		}
		if doc.Length("/known") == len(lines) && doc.Sound(path) && slices.ContainsFunc(lines[:i], same) {
			mistakes = append(mistakes, doc.Mistake(path+"/expect", "this bug is already there"))
		}
	}
	return mistakes
}
